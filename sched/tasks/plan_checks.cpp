#include "sched/tasks/plan_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/base/indices.hpp"
#include "model/base/infeasible_error.hpp"
#include "model/machine/layout_text.hpp"
#include "plan/memory_needs.hpp"
#include "sched/transport/router.hpp"

namespace tilerail {

void check_devices(const Topology& topology, std::span<const MemoryId> devices) {
  if (devices.empty()) throw missing("devices", "at least one processor");
  constexpr size_t most = 4096;
  if (devices.size() > most)
    throw fault_of("devices", fmt::format("{} are given", devices.size()),
                   fmt::format("at most {}", most));
  std::vector<MemoryId> sorted{devices.begin(), devices.end()};
  std::ranges::sort(sorted);
  for (const auto i : indices(sorted)) {
    if (sorted[i].value < 0 || sorted[i].index() >= topology.memories().size() ||
        !topology.computes(sorted[i]))
      throw InputError{
          "devices", fmt::format("memory {}", sorted[i].value),
          fmt::format("is not a processor of machine '{}'", topology.name())};
    if (i > 0 && sorted[i] == sorted[i - 1])
      throw given_twice("devices", topology.memory(sorted[i]).name);
  }
}

void check_places(const Problem& problem, const Topology& topology,
                  std::span<const MemoryId> devices) {
  for (const Tensor& tensor : tensors_of(problem)) {
    const Layout& layout = tensor.layout;
    for (const MemoryId place : layout.members())
      if (place.value < 0 || place.index() >= topology.memories().size())
        throw InputError{"place", fmt::format("memory {}", place.value),
                         fmt::format("is not a memory of machine '{}'", topology.name())};
    const std::string text = layout_text(layout, topology);
    if (layout.replicas() > 1 && tensor.use != Tensor::Use::input)
      throw InputError{
          "place", text,
          fmt::format("is not a place for {}, which is written", tensor.name),
          "one place, copies only of inputs"};
    for (const MemoryId device : devices)
      if (layout.is_replicated() && !layout.has(device))
        throw InputError{"place", text,
                         fmt::format("has no copy on {}", topology.memory(device).name),
                         "a copy on every given GPU"};
    if (layout.count_blocks(tensor.rows, tensor.cols) > Layout::most_blocks)
      throw InputError{"place", text, "has too many blocks",
                       fmt::format("at most {}", Layout::most_blocks)};
  }
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

std::vector<int64_t> capacities_for_tiles(const Problem& problem,
                                          const Topology& topology,
                                          std::span<const MemoryId> devices,
                                          double fraction, double whole) {
  constexpr int64_t no_limit = int64_t{1} << 60;
  const auto matrices = memory_needs(tensors_of(problem), devices, topology);
  check_capacities(matrices, topology, "place");
  std::vector<int64_t> capacities;
  for (const MemoryId device : devices) {
    const auto capacity = topology.memory(device).capacity;
    capacities.push_back(no_limit);
    if (!capacity) continue;
    const double left = whole * capacity->value - matrices[device.index()].matrices;
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
