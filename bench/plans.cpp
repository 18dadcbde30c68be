#include "bench/plans.hpp"

#include <cmath>
#include <optional>
#include <vector>

#include "model/machine/topology_toml.hpp"
#include "plan/builder.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/policy.hpp"
#include "sched/scheduler.hpp"

namespace tilerail::bench {
namespace {

constexpr int64_t tile = 512, chain_length = 16;
constexpr int chains_at_once = 8;

class SyntheticPlan {
 public:
  explicit SyntheticPlan(const Topology& topology)
      : topology_{topology}, plan_{empty_plan(GemmProblem{}, topology)} {
    plan_.policy = "by-hand";
    plan_.devices = topology.gpus();
    for (size_t i = 0; i < topology.memories().size(); ++i) {
      Buffer buffer;
      buffer.memory = MemoryId{i};
      buffer.rows = buffer.cols = buffer.ld = tile;
      plan_.peak_bytes[i] = tile * tile * buffer.element();
      tiles_.push_back({builder_.add_buffer(buffer), 0, 0, tile, tile});
    }
  }

  Plan grow_to(int64_t ops) && {
    std::vector<std::optional<OpId>> last(topology_.gpus().size() * chains_at_once);
    while (int64_t(plan_.ops.size()) < ops)
      for (int64_t k = 0; k < chain_length; ++k)
        for (int chain = 0; chain < chains_at_once; ++chain)
          for (size_t g = 0; g < topology_.gpus().size(); ++g)
            step(g, chain, k, last[g * chains_at_once + size_t(chain)]);
    return std::move(plan_);
  }

 private:
  void step(size_t g, int chain, int64_t k, std::optional<OpId>& last) {
    const MemoryId gpu = topology_.gpus()[g],
                   next = topology_.gpus()[(g + 1) % topology_.gpus().size()];
    const MemoryId host = topology_.hosts().front();
    Deps deps;
    if (k % 4 == 0) deps.after(copy(host, gpu));
    if (k % 4 == 2) deps.after(copy(next, gpu));
    const View& all = tiles_[gpu.index()];
    const QueueId queue = builder_.compute_queue(gpu, chain);
    last = builder_.add({.kind = OpKind::gemm, .beta = Scalar::one, .queue = queue},
                        {all, all, all}, deps);
    if (k == chain_length - 1) copy(gpu, host, Deps{}.after(*last));
  }

  OpId copy(MemoryId src, MemoryId dst, Deps deps = {}) {
    const QueueId queue = builder_.copy_queue(src, dst);
    const View &from = tiles_[src.index()], &to = tiles_[dst.index()];
    return builder_.add({.queue = queue}, {from, to}, deps);
  }

  const Topology& topology_;
  Plan plan_;
  PlanBuilder builder_{plan_};
  std::vector<View> tiles_;  // by MemoryId: one tile, which all operations share
};

}  // namespace

Topology machine(const std::string& name) {
  return load_topology(std::string{TILERAIL_SOURCE_DIR} + "/topologies/" + name +
                       ".toml");
}

Plan synthetic_plan(const Topology& topology, int64_t ops) {
  return SyntheticPlan{topology}.grow_to(ops);
}

Plan planned_gemm(const Topology& topology, const std::string& policy, int64_t ops) {
  Policy chosen = any_preset(policy);
  chosen.choices.tile = tile;
  GemmProblem problem;
  problem.m = problem.n = problem.k = int64_t(std::cbrt(double(ops))) * tile;
  problem.place_a = problem.place_b = problem.place_c = topology.hosts().front();
  return plan_gemm(problem, topology, topology.gpus(), chosen);
}

}  // namespace tilerail::bench
