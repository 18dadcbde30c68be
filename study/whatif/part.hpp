#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "study/whatif/knob.hpp"

namespace tilerail::study {

/// What is changed at once: a class of knobs that are alike, one knob, or several that were asked for together.
struct Part {
  std::string name;  // "link:host->gpu[0-3]", "latency of all links"
  std::vector<Knob> knobs;
  bool combined = false;  // of other parts

  bool of(Knob::Kind kind) const { return knobs.front().kind == kind && knobs.back().kind == kind; }
  /// Kernels and what is no hardware: no way to make a machine compute bound.
  bool carries() const;
};

struct PartSelection {
  bool each = false;                  // every knob alone
  std::vector<std::string> only;      // patterns of names of knobs, with * ? and [0-3]; empty: all
  std::vector<std::string> together;  // such patterns, with & between them: one more part each
};

/// The parts that there are, then those of several kinds: all links and groups, and what `together` says. Throws
/// InputError for a pattern that nothing fits.
std::vector<Part> parts_of(const Topology& topology, const GemmProblem& problem, std::span<const MemoryId> devices,
                           const PartSelection& selection);

/// What the part is now: "24 GB/s", or of knobs that differ "24 GB/s, 50 GB/s ...".
std::string value_of(const Part& part, const Topology& topology, const GemmProblem& problem);

/// Whether its knobs move when they become `factor` times as good: one engine cannot be halved.
bool can_change(const Part& part, const Topology& topology, double factor);

}  // namespace tilerail::study
