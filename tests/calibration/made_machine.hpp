// Machines with known figures, and their simulated calibration measurements.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibration/measurements.hpp"
#include "model/machine/topology.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::made {

using small_machine::giga, small_machine::micro;
inline constexpr double idle_watts = 60, limit_watts = 400;

/// Links between the host and each of `gpus` GPUs, none between GPUs; GPUs 0 and 1, 2 and
/// 3, ... share an uplink. Host memory limits all copies into GPUs, and all copies while
/// copies run in both directions. Contention has no other cause.
Topology::Description pcie_machine(int gpus);

/// GPUs joined by a switch. The first half of the GPUs shares an uplink to the host, the
/// second half does not. Host memory prefers copies into it. A port of the switch is
/// slower when busy both ways, and so is a GPU that receives data from the host while it
/// sends.
Topology::Description switch_machine(int gpus);

/// GEMMs in blocks with known figures, slower under load; f64 has watts.
KernelTimes known_kernels();

/// Simulates the measurements of a calibration on GPUs, with the same kinds of runs
/// (backends/cuda/measure_transfers.cpp). A copy takes latency + bytes / bandwidth, or
/// longer under contention. Each value has an error of up to `noise`, relative.
class Meter {
 public:
  Meter(const Topology& machine, double noise = 0, unsigned seed = 1)
      : machine_{machine}, noise_{noise}, state_{seed} {}

  /// All measurements, on spread pages only.
  Measurements everything();
  /// Copies between the host and GPUs.
  void host_flows(Measurements& results, HostPages pages);

 private:
  struct FlowSpec {
    std::string src, dst;
    int in_flight = 1;
  };
  using Flows = std::vector<FlowSpec>;
  enum class Direction { to_gpus, from_gpus, both };

  int count() const { return int(machine_.gpus().size()); }
  double with_noise(double value);
  SampleMean measured(double value) { return {with_noise(value), noise_, 10}; }
  bool in_turns(const Flows& flows) const;
  std::vector<double> rates(const Flows& flows, double bytes) const;

  static Flows host_with(const std::vector<int>& gpus, Direction direction);
  void run(Measurements& results, const std::string& kind, const Flows& flows,
           HostPages pages = HostPages::spread, double bytes = 16 << 20);
  void one_each(Measurements& results, const Flows& flows);
  void sizes(Measurements& results, const std::string& src, const std::string& dst);
  void peers(Measurements& results);
  void columns(Measurements& results);
  void kernels(Measurements& results);

  const Topology& machine_;
  double noise_;
  uint64_t state_;
};

}  // namespace tilerail::made
