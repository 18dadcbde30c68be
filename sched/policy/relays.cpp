#include "sched/policy/relays.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "model/published/link_map.hpp"

namespace tilerail {

bool relays_help(const GemmProblem& problem, const Resources& resources, std::span<const MemoryId> devices) {
  const bool mapped = resources.memories() <= LinkMap::most_memories;  // whose routes relays are
  if (problem.routine != Routine::gemm || devices.size() > most_with_relays || !mapped) return false;
  std::vector<MemoryId> ends{devices.begin(), devices.end()};
  for (const MemoryId place : {problem.place_a, problem.place_b, problem.place_c})
    if (!resources.topology().has_copies(place) && std::find(ends.begin(), ends.end(), place) == ends.end())
      ends.push_back(place);
  const auto faster = [&](MemoryId src, MemoryId dst) {
    const SecondsPerByte straight = resources.way(src, dst).per_byte;
    return std::any_of(devices.begin(), devices.end(), [&](MemoryId via) {
      return via != src && via != dst && resources.way(src, via).per_byte + resources.way(via, dst).per_byte < straight;
    });
  };
  for (std::size_t d = 0; d < devices.size(); ++d)
    for (std::size_t end = d + 1; end < ends.size(); ++end)  // the devices come first
      if (faster(ends[end], devices[d]) || faster(devices[d], ends[end])) return true;
  return false;
}

bool may_copy_between_gpus(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices) {
  if (devices.size() > 1) return true;
  return std::ranges::any_of(std::array{problem.place_a, problem.place_b, problem.place_c}, [&](MemoryId place) {
    return !topology.is_host(place) && !topology.has_copies(place) &&
           std::ranges::find(devices, place) == devices.end();
  });
}

}  // namespace tilerail
