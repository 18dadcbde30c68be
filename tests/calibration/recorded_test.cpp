// Compares the machine files from recorded measurements with these measurements.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>

#include "calibration/fit_topology.hpp"
#include "model/base/statistics.hpp"
#include "model/machine/topology_toml.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

Measurements recorded(const std::string& machine = "hgx-h200-4") {
  const std::string path =
      TILERAIL_SOURCE_DIR "/experiments/results/" + machine + "/measurements.json";
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return measurements_from_json(text.str(), path);
}

Topology shipped(HostPages pages) {
  return test::shipped(pages == HostPages::plain ? "hgx-h200-4-plain" : "hgx-h200-4");
}

double median_error(const std::vector<Residual>& residuals) {
  std::vector<double> errors;
  for (const Residual& r : residuals) errors.push_back(std::abs(r.error()));
  return median(errors);
}

/// Mean of |log(rule / measured)| over the shapes of a curve, for the rule without its
/// correction by them; each shape counts at most 0.3.
double distance_of_rule(const GemmCurve& curve, const KernelTimes& kernels) {
  const TiledGemm& rule = *curve.tiled;
  double sum = 0;
  for (const auto& [m, n, k, time, issue] : rule.shapes) {
    const auto cost = rule.uncorrected({m, n, k}, kernels.tiled_device(curve.dtype));
    sum += std::min(0.3, std::abs(std::log(cost.time / time)));
  }
  return sum / double(rule.shapes.size());
}

TEST(Recorded, TheFitReproducesTheShippedFiles) {
  const Measurements measurements = recorded();
  for (const HostPages pages : {HostPages::spread, HostPages::plain}) {
    const Topology file = shipped(pages), fitted{fit_topology(measurements, pages)};
    ASSERT_EQ(file.links().size(), fitted.links().size());
    for (size_t i = 0; i < file.links().size(); ++i) {
      EXPECT_EQ(file.links()[i].name, fitted.links()[i].name);
      EXPECT_NEAR(file.links()[i].bandwidth / fitted.links()[i].bandwidth, 1, 1e-3);
    }
    ASSERT_EQ(file.groups().size(), fitted.groups().size());
    for (size_t i = 0; i < file.groups().size(); ++i)
      EXPECT_EQ(file.groups()[i].name, fitted.groups()[i].name);
  }
}

TEST(Recorded, TheShippedFilesHaveTheUncertaintyOfTheFit) {
  for (const char* machine : {"hgx-h200-1", "hgx-h200-2", "hgx-h100-1", "hgx-h100-2",
                              "hgx-h200-4", "hgx-h200-4-plain"}) {
    std::string name = machine;
    const bool plain = name.ends_with("-plain");
    if (plain) name.resize(name.size() - std::string{"-plain"}.size());
    const auto fitted =
        fit_topology(recorded(name), plain ? HostPages::plain : HostPages::spread)
            .uncertainty.value();
    const Uncertainty file = test::shipped(machine).description().uncertainty.value();
    ASSERT_EQ(file.kernels.size(), fitted.kernels.size()) << machine;
    const auto expect_like = [&](double in_file, double of_fit) {
      EXPECT_NEAR(in_file / of_fit, 1, 0.02) << machine;
    };
    for (const Uncertainty::Kernels& k : fitted.kernels) {
      expect_like(file.of_kernels(k.dtype)->measured_shapes, k.measured_shapes);
      expect_like(file.of_kernels(k.dtype)->other_shapes, k.other_shapes);
    }
    for (double Uncertainty::*figure : {&Uncertainty::load, &Uncertainty::copies,
                                        &Uncertainty::columns, &Uncertainty::issue})
      expect_like(file.*figure, fitted.*figure);
  }
}

TEST(Recorded, TheShippedFileOfTwoH100HasTheGraphsAndTheInterferenceOfTheFit) {
  const Topology::Description fitted =
      fit_topology(recorded("hgx-h100-2"), HostPages::spread);
  const Topology machine = test::shipped("hgx-h100-2");
  const Topology::Description& file = machine.description();
  for (Seconds GraphCost::*figure :
       {&GraphCost::per_call, &GraphCost::per_copy, &GraphCost::per_kernel,
        &GraphCost::per_dependency, &GraphCost::between_gpus}) {
    EXPECT_GT((*fitted.issue.graph).*figure, Seconds{0});
    EXPECT_NEAR((*file.issue.graph).*figure / (*fitted.issue.graph).*figure, 1, 1e-3);
  }
  EXPECT_NEAR(file.issue.hand_on / fitted.issue.hand_on, 1, 1e-3);
  EXPECT_NEAR(file.strided.beside / fitted.strided.beside, 1, 1e-3);
  EXPECT_NEAR(file.strided.forgotten / fitted.strided.forgotten, 1, 1e-3);
}

TEST(Recorded, TheShippedFilesReproduceTheMeasurements) {
  const Measurements measurements = recorded();
  for (const HostPages pages : {HostPages::spread, HostPages::plain})
    EXPECT_LT(median_error(transfer_residuals(measurements, pages, shipped(pages))),
              0.02);
  EXPECT_LT(median_error(kernel_residuals(measurements, shipped(HostPages::spread))),
            0.01);
}

// Away from measured shapes, the rule is no better than without its correction.
TEST(Recorded, TheRuleAloneIsNearTheMeasuredKernels) {
  for (const char* machine : {"hgx-h200-1", "hgx-h200-2", "hgx-h200-4", "hgx-h100-1"}) {
    const Measurements measurements = recorded(machine);
    const Topology fitted{fit_topology(measurements, HostPages::spread)};
    const KernelTimes& kernels = fitted.kernels_of(fitted.gpus()[0]);
    for (const GemmCurve& curve : kernels.gemm)
      if (curve.trans.empty()) {
        EXPECT_LT(distance_of_rule(curve, kernels), 0.065)
            << machine << " " << to_string(curve.dtype);
      }
    EXPECT_LT(median_error(kernel_residuals(measurements, fitted)), 0.005) << machine;
  }
}

TEST(Recorded, WattsOfKernelsComeFromRunsBelowThePowerLimit) {
  const Topology fitted{fit_topology(recorded("hgx-h200-1"), HostPages::spread)};
  const Topology file = test::shipped("hgx-h200-1");
  const MemoryId gpu = file.gpus()[0];
  for (const DType dtype : {DType::f64, DType::f32, DType::f16}) {
    const auto watts = file.kernels_of(gpu).gemm_watts(dtype, Trans::no, Trans::no);
    ASSERT_TRUE(watts);
    EXPECT_EQ(watts, fitted.kernels_of(gpu).gemm_watts(dtype, Trans::no, Trans::no));
  }
  EXPECT_GT(file.kernels_of(gpu).gemm_watts(DType::f64, Trans::no, Trans::no),
            file.processor(gpu).busy_watts);
  EXPECT_LT(file.kernels_of(gpu).gemm_watts(DType::f32, Trans::no, Trans::no),
            file.processor(gpu).busy_watts);
}

TEST(Recorded, EnginesAndTheSwitchAreFound) {
  const Topology machine = shipped(HostPages::spread);
  for (const MemoryId gpu : machine.gpus()) {
    const Engines& engines = machine.memory(gpu).engines();
    EXPECT_EQ(engines.h2d, 1);
    EXPECT_EQ(engines.d2h, 1);
    EXPECT_EQ(engines.peer, 1);
    for (const MemoryId other : machine.gpus())
      if (other != gpu) {
        EXPECT_EQ(machine.route(gpu, other).size(), 2U);  // through the switch
      }
  }
}

}  // namespace
}  // namespace tilerail
