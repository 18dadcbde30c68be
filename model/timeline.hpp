#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/ids.hpp"
#include "model/base/units.hpp"

namespace tilerail {

/// When one operation ran: seconds since the start of the execution.
struct OpTime {
  double start = 0, end = 0;
};

/// When the last of them has ended.
inline Seconds makespan_of(const std::vector<OpTime>& ops) {
  double last = 0;
  for (const OpTime& t : ops) last = t.end > last ? t.end : last;
  return Seconds{last};
}

/// The names of the backends that predict: SimGrid, and the fluid machine. All others
/// measure.
inline constexpr const char *simulator_backend = "sim", *fluid_backend = "fluid";
inline bool is_simulation(std::string_view backend) {
  return backend == simulator_backend || backend == fluid_backend;
}

/// What an executor returns: one OpTime for each operation of the plan, in the order of
/// the plan.
struct Timeline {
  std::string backend;      // of a simulation, "host" or "cuda"
  std::string plan_hash;    // of the plan that was executed
  std::vector<OpTime> ops;  // indexed by OpId
  Seconds makespan() const { return makespan_of(ops); }
};

}  // namespace tilerail
