#include "bench/plans.hpp"

#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <vector>

#include "sched/policy/policy.hpp"
#include "sched/scheduler.hpp"

namespace tilerail::bench {
namespace {

constexpr std::int64_t tile = 512, chain_length = 16;
constexpr int chains_at_once = 8;

class SyntheticPlan {
 public:
  explicit SyntheticPlan(const Topology& topology) : topology_{topology} {
    plan_.machine = topology.name();
    for (const Memory& memory : topology.memories()) plan_.memories.push_back(memory.name);
    plan_.devices = topology.gpus();
    plan_.peak_bytes.assign(plan_.memories.size(), tile * tile * 8);
    plan_.dep_begin = {0};
    for (std::size_t i = 0; i < plan_.memories.size(); ++i)
      plan_.buffers.push_back({Buffer::Kind::tile, MemoryId{i}, tile, tile, tile, 0});
  }

  Plan grow_to(std::int64_t ops) && {
    std::vector<std::optional<OpId>> last(topology_.gpus().size() * chains_at_once);
    while (static_cast<std::int64_t>(plan_.ops.size()) < ops)
      for (std::int64_t k = 0; k < chain_length; ++k)
        for (int chain = 0; chain < chains_at_once; ++chain)
          for (std::size_t g = 0; g < topology_.gpus().size(); ++g)
            step(g, chain, k, last[g * chains_at_once + static_cast<std::size_t>(chain)]);
    return std::move(plan_);
  }

 private:
  void step(std::size_t g, int chain, std::int64_t k, std::optional<OpId>& last) {
    const MemoryId gpu = topology_.gpus()[g], next = topology_.gpus()[(g + 1) % topology_.gpus().size()];
    const MemoryId host = topology_.hosts().front();
    std::vector<OpId> deps;
    if (k % 4 == 0) deps.push_back(add(OpKind::copy, host, gpu, 0, {}));
    if (k % 4 == 2) deps.push_back(add(OpKind::copy, next, gpu, 0, {}));
    last = add(OpKind::gemm, gpu, gpu, chain, deps);
    if (k == chain_length - 1) add(OpKind::copy, gpu, host, 0, {*last});
  }

  OpId add(OpKind kind, MemoryId src, MemoryId dst, int index, const std::vector<OpId>& deps) {
    const auto [entry, is_new] = queues_.try_emplace({src, dst, index}, QueueId{plan_.queues.size()});
    if (is_new)
      plan_.queues.push_back({kind == OpKind::copy ? Queue::Kind::copy : Queue::Kind::compute, src, dst, index});
    const View from{BufferId{src.index()}, 0, 0, tile, tile}, to{BufferId{dst.index()}, 0, 0, tile, tile};
    plan_.ops.push_back({kind, Trans::no, Trans::no, entry->second, from, from, to, Scalar::one, Scalar::one});
    plan_.deps.insert(plan_.deps.end(), deps.begin(), deps.end());
    plan_.dep_begin.push_back(static_cast<std::uint32_t>(plan_.deps.size()));
    return OpId{plan_.ops.size() - 1};
  }

  const Topology& topology_;
  Plan plan_;
  std::map<std::tuple<MemoryId, MemoryId, int>, QueueId> queues_;
};

}  // namespace

Topology machine(const std::string& name) {
  return load_topology(std::string{TILERAIL_SOURCE_DIR} + "/topologies/" + name + ".toml");
}

Plan synthetic_plan(const Topology& topology, std::int64_t ops) { return SyntheticPlan{topology}.grow_to(ops); }

Plan planned_gemm(const Topology& topology, const std::string& policy, std::int64_t ops) {
  Policy chosen = preset(policy);
  chosen.tile = tile;
  GemmProblem problem;
  problem.m = problem.n = problem.k = static_cast<std::int64_t>(std::cbrt(static_cast<double>(ops))) * tile;
  problem.place_a = problem.place_b = problem.place_c = topology.hosts().front();
  return plan_gemm(problem, topology, topology.gpus(), chosen);
}

}  // namespace tilerail::bench
