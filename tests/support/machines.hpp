#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/topology_toml.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {

using test::shipped;

inline std::vector<MemoryId> all_gpus(const Topology& topology) {
  return topology.gpus();
}

/// A cube of side n in f64 with A, B and C in the first memory, which must be the host.
inline GemmProblem cube(int64_t n) {
  GemmProblem p;
  p.m = p.n = p.k = n;
  return p;
}

/// A preset with fields overridden by "key=value".
inline Policy policy(std::string_view name,
                     std::initializer_list<std::string_view> overrides = {}) {
  Policy p = any_preset(name);
  for (const std::string_view o : overrides) apply_override(p, o);
  return p;
}

}  // namespace tilerail::testing
