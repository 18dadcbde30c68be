#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"

namespace tilerail::study {

/// A property of a machine that could improve: the rate of a link or group, the number of
/// simultaneous copies of one role on a memory's engines, the times of a kernel table,
/// the latency of all links, the issue cost.
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

constexpr double without_limit = INFINITY;

/// Every knob of the machine. Unlimited engines have none.
std::vector<Knob> knobs_of(const Topology& topology, const GemmProblem& problem);

/// The machine with these knobs `factor` times as good: rates multiplied, times divided.
/// `without_limit`: links, and their single copies, at the largest rate of a description,
/// 1 PB/s; no groups; unlimited engines; kernels at 1000 PFLOP/s or with the largest rate
/// there; no latency; no issue cost. Rates stay within the range of descriptions; engines
/// are integers of at least one. The machine keeps its name.
Topology improved(const Topology& topology, std::span<const Knob> knobs, double factor);

}  // namespace tilerail::study
