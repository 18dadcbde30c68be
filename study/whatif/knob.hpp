#pragma once

#include <compare>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"

namespace tilerail::study {

/// One thing of a machine that could be better: the rate of a link or of a group, how many copies of a role a memory's
/// engines run at once, the times of a kernel table, the latency of a link, the cost of issuing.
struct Knob {
  enum class Kind { link, group, engine, kernels, latency, issue };
  Kind kind = Kind::link;
  size_t index = 0;  // of the link, the group, the memory or the kernel table; 0 for issue
  size_t role = 0;   // of an engine: h2d, d2h, peer, total

  auto operator<=>(const Knob&) const = default;
};

const char* to_string(Knob::Kind kind);

constexpr double without_limit = std::numeric_limits<double>::infinity();

/// Every knob that the machine has. An engine without a limit is none.
std::vector<Knob> knobs_of(const Topology& topology);

/// "link:host->pcie0", "group:host memory", "engine:gpu0.h2d", "kernels:h200", "latency:host->pcie0", "issue"; the part
/// after the colon alone is `place_of`.
std::string name_of(const Knob& knob, const Topology& topology);
std::string place_of(const Knob& knob, const Topology& topology);

/// What it is `factor` times as good: "24 GB/s", "2", "60 TFLOP/s" of the problem's type, "2 us"; "no limit".
std::string value_of(const Knob& knob, const Topology& topology, const GemmProblem& problem);

/// The machine with these `factor` times as good: rates that many times as high, times that many times as short.
/// `without_limit`: links at 1 PB/s, which is the most that a description has, and copies alone at no less; no group;
/// no limit of engines; kernels at 1000 PFLOP/s or what keeps their largest rate there; no latency, no cost. Rates stay
/// in the range of descriptions, and engines are whole: at least one. The name of the machine stays.
Topology improved(const Topology& topology, std::span<const Knob> knobs, double factor);

}  // namespace tilerail::study
