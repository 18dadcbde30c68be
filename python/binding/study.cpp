#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>

#include "python/binding/convert.hpp"
#include "study/calibrate.hpp"
#include "study/sweep/sweep.hpp"
#include "study/whatif/whatif.hpp"

namespace tilerail::python {
namespace {

using Unlocked = nb::call_guard<nb::gil_scoped_release>;

/// A checked sweep, and the plans that its points share. Threads can run points
/// simultaneously.
class SweepPoints {
 public:
  /// `machine`: the machine of texts["topology"]; null: found by that name.
  SweepPoints(const Texts& texts, const std::vector<std::string>& axes,
              const Topology* machine)
      : sweep_{study::sweep_of(job_of(texts), axes)},
        machines_{study::check_sweep(sweep_, known(texts, machine))},
        plans_{machines_} {}

  size_t size() const { return sweep_.points(); }
  nb::object row(size_t point) {
    Json row;
    {
      const nb::gil_scoped_release unlocked;
      row = study::columns_of(sweep_).json(
          study::run_point(sweep_, machines_, plans_, point));
    }
    return python_of(row);
  }

 private:
  static study::Machines known(const Texts& texts, const Topology* machine) {
    study::Machines machines;
    if (machine) machines.emplace(texts.at("topology"), *machine);
    return machines;
  }

  study::Sweep sweep_;
  study::Machines machines_;
  study::UnchangedPlans plans_;
};

/// Runs `work` in a thread without the GIL and returns its rows. After Ctrl-C, asks it to
/// stop and throws Python's error.
template <class Work>
Json until_interrupted(std::atomic<bool>& stop, const Work& work) {
  constexpr std::chrono::milliseconds between_checks{100};
  const nb::gil_scoped_release unlocked;
  std::future<Json> rows = std::async(std::launch::async, work);
  while (rows.wait_for(between_checks) != std::future_status::ready) {
    const nb::gil_scoped_acquire locked;
    if (PyErr_CheckSignals() == 0) continue;
    stop = true;
    {
      const nb::gil_scoped_release again;
      rows.wait();
    }
    throw nb::python_error();
  }
  return rows.get();
}

nb::object what_if(const Topology& machine, const Texts& texts,
                   const std::vector<std::string>& only, bool each, size_t threads) {
  std::atomic<bool> stop{false};
  study::Workers workers{threads};
  workers.stop_asked = [&] { return stop.load(); };
  const Json rows = until_interrupted(stop, [&] {
    const study::WhatIf what =
        study::what_if(machine, job_of(texts), {each, only}, workers);
    return study::columns_of(what).json_rows(what.rows);
  });
  return python_of(rows);
}

/// The machine and warnings. Unset arguments are chosen by the backend.
nb::tuple calibrate(const std::string& backend, std::optional<int> devices,
                    std::optional<int> workers, std::optional<double> seconds,
                    std::optional<std::string> name) {
  study::CalibrationSettings settings;
  settings.devices = devices;
  settings.workers = workers;
  settings.seconds = seconds;
  settings.name = std::move(name);
  settings.command = "tilerail.calibrate";
  const auto calibration = [&]() -> study::HostCalibration {
    const nb::gil_scoped_release unlocked;
    if (backend == "host") return study::calibrate_host(settings);
    auto gpus = study::calibrate_gpus(settings);
    return {std::move(gpus.spread), std::move(gpus.warnings)};
  }();
  return nb::make_tuple(calibration.machine, calibration.warnings);
}

}  // namespace

void add_studies(nb::module_& module) {
  nb::class_<SweepPoints>(module, "SweepPoints")
      .def(nb::init<const Texts&, const std::vector<std::string>&, const Topology*>(),
           nb::arg("texts"), nb::arg("axes"), nb::arg("machine").none())
      .def("__len__", &SweepPoints::size)
      .def("row", &SweepPoints::row);
  module.def("what_if", what_if);
  module.def("calibrate", calibrate);
}

}  // namespace tilerail::python
