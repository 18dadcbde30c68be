#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/base/ids.hpp"
#include "model/base/units.hpp"

namespace tilerail {

/// Start and end of one operation in seconds since the start of the execution.
struct OpTime {
  double start = 0, end = 0;
};

/// The end of the last operation.
inline Seconds makespan_of(const std::vector<OpTime>& ops) {
  double last = 0;
  for (const OpTime& t : ops) last = t.end > last ? t.end : last;
  return Seconds{last};
}

/// Names of the backends that simulate: SimGrid and the fluid machine. All others
/// measure.
inline constexpr const char *simulator_backend = "sim", *fluid_backend = "fluid";
inline bool is_simulation(std::string_view backend) {
  return backend == simulator_backend || backend == fluid_backend;
}

/// Result of an executor: one OpTime per operation, in the order of the plan.
struct Timeline {
  std::string backend;      // a simulator, "host" or "cuda"
  std::string plan_hash;    // of the executed plan
  std::vector<OpTime> ops;  // indexed by OpId
  Seconds makespan() const { return makespan_of(ops); }
};

}  // namespace tilerail
