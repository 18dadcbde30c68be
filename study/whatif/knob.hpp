#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"

namespace tilerail::study {

/// One thing of a machine that could be better: the rate of a link or of a group, how
/// many copies of a role a memory's engines run simultaneously, the times of a kernel
/// table, the latency of all links, the issue cost.
struct Knob {
  enum class Kind { link, group, engine, kernels, latency, issue };
  Kind kind = Kind::link;
  std::string name;  // "link:host->pcie0", "group:host memory", "engine:gpu0.h2d",
                     // "kernels:h200", "latency", "issue"
  std::string
      now;  // its figure: "24 GB/s", "2", "60 TFLOP/s" of the problem's type, "2 us"
  size_t index = 0;  // of the link, the group, the memory or the kernel table
  size_t role = 0;   // of an engine
};

constexpr double without_limit = std::numeric_limits<double>::infinity();

/// Every knob of the machine. Engines without a limit have none.
std::vector<Knob> knobs_of(const Topology& topology, const GemmProblem& problem);

/// The machine with these `factor` times as good: rates that many times as high, times
/// that many times as short. `without_limit`: links at 1 PB/s, which is the most that a
/// description has, and copies alone at no less; no group; no limit of engines; kernels
/// at 1000 PFLOP/s or what keeps their largest rate there; no latency, no cost. Rates
/// stay in the range of descriptions, and engines are whole: at least one. The name of
/// the machine stays.
Topology improved(const Topology& topology, std::span<const Knob> knobs, double factor);

}  // namespace tilerail::study
