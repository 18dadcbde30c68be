#include "sched/tasks/plan_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/base/indices.hpp"
#include "model/base/infeasible_error.hpp"
#include "plan/memory_needs.hpp"
#include "sched/transport/router.hpp"

namespace tilerail {

void check_devices(const Topology& topology, std::span<const MemoryId> devices) {
  if (devices.empty()) throw missing("devices", "at least one GPU");
  constexpr size_t most = 4096;
  if (devices.size() > most)
    throw fault_of("devices", fmt::format("{} are given", devices.size()),
                   fmt::format("at most {}", most));
  std::vector<MemoryId> sorted{devices.begin(), devices.end()};
  std::ranges::sort(sorted);
  for (const auto i : indices(sorted)) {
    if (sorted[i].value < 0 || sorted[i].index() >= topology.memories().size() ||
        !topology.is_gpu(sorted[i]))
      throw InputError{"devices", fmt::format("memory {}", sorted[i].value),
                       fmt::format("is not a GPU of machine '{}'", topology.name())};
    if (i > 0 && sorted[i] == sorted[i - 1])
      throw given_twice("devices", topology.memory(sorted[i]).name);
  }
}

void check_places(const GemmProblem& problem, const Topology& topology) {
  for (const MemoryId place : {problem.place_a, problem.place_b, problem.place_c})
    if (place.value < 0 || place.index() >= topology.memories().size())
      throw InputError{"place", fmt::format("memory {}", place.value),
                       fmt::format("is not a memory of machine '{}'", topology.name())};
  if (topology.has_copies(problem.place_c))
    throw InputError{"place", topology.memory(problem.place_c).name,
                     "is not a place for C, which is written",
                     "one place, copies only of A and B"};
}

void check_kernel_count(double kernels, int64_t tile, int64_t asked) {
  // A plan lists every kernel: the maximum takes about a minute and some gigabytes to
  // plan.
  constexpr double most = 1 << 23;
  if (kernels <= most) return;
  const std::string counts = fmt::format("{:.0f} kernels", std::min(kernels, 1e18));
  const std::string limit = fmt::format("at most {:.0f} in a plan", most);
  if (tile == asked)
    throw InfeasibleError{"tile", std::to_string(tile), "cuts the problem into " + counts,
                          limit};
  throw InfeasibleError{fault_of(
      "devices",
      fmt::format(
          "tiles of {}, chosen for this problem and the memory of these GPUs, make {}",
          tile, counts),
      limit + ": more GPUs or a larger tile")};
}

std::vector<int64_t> capacities_for_tiles(const GemmProblem& problem,
                                          const Topology& topology,
                                          std::span<const MemoryId> devices,
                                          double fraction) {
  constexpr int64_t no_limit = int64_t{1} << 60;
  std::vector<MemoryNeed> matrices = memory_needs(problem, topology.memories().size());
  check_capacities(matrices, topology, devices, "place");
  matrices = needs_of_parts(std::move(matrices), topology, devices);
  std::vector<int64_t> capacities;
  for (const MemoryId device : devices) {
    const auto capacity = topology.memory(device).capacity;
    capacities.push_back(no_limit);
    if (!capacity) continue;
    const double left = capacity->value - matrices[device.index()].matrices;
    capacities.back() = int64_t(std::min(left, fraction * capacity->value));
  }
  return capacities;
}

void no_route(const Topology& topology, MemoryId src, MemoryId dst) {
  const bool over_host =
      leg_between(topology, PeerCopies::staged, src, dst, true).host.has_value();
  throw InfeasibleError{fault_of(
      "devices",
      fmt::format("machine '{}' has no route from '{}' to '{}'", topology.name(),
                  topology.memory(src).name, topology.memory(dst).name),
      fmt::format("other devices or a link{}",
                  over_host ? ", or copies over a host: peer-copies=staged" : ""))};
}

void check_routes(const Plan& plan, const Topology& topology) {
  for (const Queue& queue : plan.queues)
    if (queue.kind == Queue::Kind::copy && !topology.has_route(queue.src, queue.dst))
      no_route(topology, queue.src, queue.dst);
}

}  // namespace tilerail
