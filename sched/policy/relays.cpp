#include "sched/policy/relays.hpp"

#include <algorithm>
#include <vector>

namespace tilerail {

bool relays_help(const GemmProblem& problem, const Resources& resources, std::span<const MemoryId> devices) {
  if (problem.routine != Routine::gemm || devices.size() > most_with_relays) return false;
  std::vector<MemoryId> ends{devices.begin(), devices.end()};
  for (const MemoryId place : {problem.place_a, problem.place_b, problem.place_c})
    if (std::find(ends.begin(), ends.end(), place) == ends.end()) ends.push_back(place);
  const auto faster = [&](MemoryId src, MemoryId dst) {
    return std::any_of(devices.begin(), devices.end(), [&](MemoryId via) {
      return via != src && via != dst &&
             resources.per_byte(src, via) + resources.per_byte(via, dst) < resources.per_byte(src, dst);
    });
  };
  for (const MemoryId device : devices)
    for (const MemoryId end : ends)
      if (end != device && (faster(end, device) || faster(device, end))) return true;
  return false;
}

}  // namespace tilerail
