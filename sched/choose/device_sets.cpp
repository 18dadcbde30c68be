#include "sched/choose/device_sets.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "cost/kernel_costs.hpp"
#include "model/base/contains.hpp"
#include "model/machine/islands.hpp"
#include "sched/gemm/decomposition.hpp"
#include "sched/transport/router.hpp"

namespace tilerail {
namespace {

/// Whether a matrix can be copied from one memory to another, over a route or a host.
struct CanCopy {
  const Topology& topology;
  PeerCopies copies;

  bool operator()(MemoryId src, MemoryId dst, MemoryId home) const {
    return exists(topology,
                  leg_between(topology, copies, src, dst, src == home || dst == home));
  }
};

/// The devices that can write C home and, if needed, read it first.
std::vector<MemoryId> that_keep_c(const GemmProblem& p, const CanCopy& can_copy,
                                  std::span<const MemoryId> devices) {
  std::vector<MemoryId> keep{devices.begin(), devices.end()};
  for (const MemoryId home : p.place_c.members())
    std::erase_if(keep, [&](MemoryId gpu) {
      return !can_copy(gpu, home, home) || (p.beta != 0 && !can_copy(home, gpu, home));
    });
  return keep;
}

/// The devices that `reaches(memory or device, device)` connects with a memory, directly
/// or over each other.
template <class Reaches>
std::vector<MemoryId> joined_with(MemoryId home, std::span<const MemoryId> devices,
                                  const Reaches& reaches) {
  std::vector<MemoryId> sources{home}, joined;
  std::vector<bool> is_joined(devices.size());
  for (size_t i = 0; i < sources.size() && sources.size() <= devices.size(); ++i)
    for (size_t d = 0; d < devices.size(); ++d)
      if (!is_joined[d] && reaches(sources[i], devices[d]))
        is_joined[d] = true, sources.push_back(devices[d]);
  for (size_t d = 0; d < devices.size(); ++d)
    if (is_joined[d]) joined.push_back(devices[d]);
  return joined;
}

}  // namespace

DeviceSets device_subsets(const GemmProblem& problem, std::span<const MemoryId> devices,
                          size_t count) {
  const std::vector<MemoryId> all_homes = homes_of(problem);
  std::vector<MemoryId> homes, others;
  for (const MemoryId device : devices) {
    (contains(all_homes, device) ? homes : others).push_back(device);
  }
  // If there are fewer devices than homes, the home of C comes first: it is read and
  // written.
  std::stable_partition(homes.begin(), homes.end(),
                        [&](MemoryId home) { return problem.place_c.has(home); });
  homes.resize(std::min(homes.size(), count));
  const size_t missing = count - homes.size();
  std::vector<MemoryId> first = homes, spaced = homes;
  for (size_t i = 0; i < missing; ++i) {
    first.push_back(others[i]);
    spaced.push_back(others[i * others.size() / missing]);
  }
  std::sort(first.begin(), first.end());
  std::sort(spaced.begin(), spaced.end());
  if (first == spaced) return {first};
  return {first, spaced};
}

Seconds kernels_alone(const Question& q, std::span<const MemoryId> devices) {
  const GemmProblem& p = q.problem;
  if (p.scales_only()) return Seconds{0};
  double rate = 0;  // in products per second
  for (const MemoryId device : devices)
    rate += q.topology.memory(device).workers() /
            product_time(q.topology.kernels_of(device), p, p.m, p.n, p.k).value;
  return Seconds{1 / rate};
}

DeviceSets growing_sets(const Question& q) {
  constexpr size_t most_devices = 16;
  constexpr double hopeless = 1.1;
  if (q.devices.size() > most_devices) return {};
  const auto time = [&](const std::vector<MemoryId>& set) {
    const Grid grid = square_grid(int(set.size()));
    const Seconds kernels = kernels_alone(q, set);
    const Seconds copies = grid_traffic(q.problem, q.resources, set, grid,
                                        q.policy.choices.batch != Batch::off)
                               .bottleneck;
    return std::pair{std::max(kernels, copies), kernels + copies};
  };
  DeviceSets sets;
  std::vector<MemoryId> chosen, left{q.devices.begin(), q.devices.end()};
  Seconds least = time(left).first;
  while (left.size() > 1) {
    const auto with = [&](MemoryId device) {
      std::vector<MemoryId> set = chosen;
      set.insert(std::ranges::upper_bound(set, device), device);
      return set;
    };
    const auto next = std::ranges::min_element(
        left, {}, [&](MemoryId device) { return time(with(device)); });
    chosen = with(*next);
    left.erase(next);
    sets.push_back(chosen);
    least = std::min(least, time(chosen).first);
  }
  constexpr size_t few = 6;
  for (const MemoryId device : q.devices) {
    std::vector<MemoryId> others{q.devices.begin(), q.devices.end()};
    std::erase(others, device);
    if (q.devices.size() <= few && others.size() > 1 &&
        std::ranges::find(sets, others) == sets.end())
      sets.push_back(std::move(others));
  }
  std::erase_if(sets, [&](const std::vector<MemoryId>& set) {
    return time(set).first > hopeless * least;
  });
  std::ranges::stable_sort(sets, std::greater{}, &std::vector<MemoryId>::size);
  return sets;
}

DeviceSets islands_with_matrices(const Question& q) {
  constexpr size_t most_devices = 64;
  if (q.devices.size() > most_devices) return {};
  const GemmProblem& p = q.problem;
  const auto matrices = [&](const std::vector<MemoryId>& island) {
    size_t there = 0;
    for (const Layout* place : {&p.place_a, &p.place_b, &p.place_c})
      there += place->is_whole() && contains(island, place->home());
    return there;
  };
  std::map<size_t, std::vector<MemoryId>, std::greater<>> of_size;
  for (const auto& places : islands(q.topology, q.devices)) {
    std::vector<MemoryId> island;
    for (const size_t place : places) island.push_back(q.devices[place]);
    std::vector<MemoryId>& best = of_size[island.size()];
    if (best.empty() || matrices(island) > matrices(best)) best = std::move(island);
  }
  DeviceSets sets;
  for (auto& [_, island] : of_size) sets.push_back(std::move(island));
  return sets;
}

std::vector<MemoryId> supplied_devices(const GemmProblem& p, const Topology& topology,
                                       std::span<const MemoryId> devices, ReturnPath path,
                                       PeerCopies copies) {
  const CanCopy can_copy{topology, copies};
  const auto there = [&](MemoryId home) {
    return [&can_copy, home](MemoryId src, MemoryId dst) {
      return can_copy(src, dst, home);
    };
  };
  const auto back = [&](MemoryId home) {
    return [&can_copy, home](MemoryId dst, MemoryId src) {
      return can_copy(src, dst, home);
    };
  };
  std::vector<MemoryId> left{devices.begin(), devices.end()};
  if (path == ReturnPath::direct) left = that_keep_c(p, can_copy, devices);
  // A device dropped because of one matrix may have supplied others with another matrix.
  for (size_t before = left.size() + 1; left.size() < before;) {
    before = left.size();
    for (const MemoryId home : p.place_c.members()) {
      if (path != ReturnPath::over_others) break;
      left = joined_with(home, left, back(home));
      if (p.beta != 0) left = joined_with(home, left, there(home));
    }
    if (p.scales_only()) continue;
    for (const Layout* place : {&p.place_a, &p.place_b}) {
      if (place->is_replicated()) continue;
      for (const MemoryId home : place->members())
        left = joined_with(home, left, there(home));
    }
  }
  return left;
}

std::vector<MemoryId> directly_supplied(const GemmProblem& p, const Topology& topology,
                                        std::span<const MemoryId> devices,
                                        PeerCopies copies) {
  const CanCopy can_copy{topology, copies};
  std::vector<MemoryId> supplied = that_keep_c(p, can_copy, devices);
  const auto comes = [&](const Layout& place, MemoryId gpu) {
    return place.has_all_in(gpu) ||
           std::ranges::all_of(place.members(),
                               [&](MemoryId home) { return can_copy(home, gpu, home); });
  };
  if (!p.scales_only())
    std::erase_if(supplied, [&](MemoryId gpu) {
      return !comes(p.place_a, gpu) || !comes(p.place_b, gpu);
    });
  return supplied;
}

DeviceSets supplied_sets(const Question& q) {
  DeviceSets sets;
  const PeerCopies copies = q.policy.choices.peer_copies;
  for (auto& set :
       {supplied_devices(q.problem, q.topology, q.devices, ReturnPath::direct, copies),
        directly_supplied(q.problem, q.topology, q.devices, copies)})
    if (!set.empty() &&
        set.size() < (sets.empty() ? q.devices.size() : sets.back().size()))
      sets.push_back(set);
  return sets;
}

}  // namespace tilerail
