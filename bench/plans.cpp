#include "bench/plans.hpp"

#include <cmath>
#include <optional>
#include <vector>

#include "model/machine/topology_toml.hpp"
#include "plan/draft.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/policy.hpp"
#include "sched/scheduler.hpp"

namespace tilerail::bench {
namespace {

constexpr int64_t tile = 512, chain_length = 16;
constexpr int chains_at_once = 8;

class SyntheticPlan {
 public:
  explicit SyntheticPlan(const Topology& topology) : topology_{topology}, draft_{topology} {
    for (size_t i = 0; i < topology.sources(); ++i) tiles_.push_back(draft_.tile_at(MemoryId{i}, 0, tile, tile, tile));
  }

  Plan grow_to(int64_t ops) && {
    std::vector<std::optional<OpId>> last(topology_.gpus().size() * chains_at_once);
    while (int64_t(draft_.plan.ops.size()) < ops)
      for (int64_t k = 0; k < chain_length; ++k)
        for (int chain = 0; chain < chains_at_once; ++chain)
          for (size_t g = 0; g < topology_.gpus().size(); ++g)
            step(g, chain, k, last[g * chains_at_once + size_t(chain)]);
    return std::move(draft_.plan);
  }

 private:
  void step(size_t g, int chain, int64_t k, std::optional<OpId>& last) {
    const MemoryId gpu = topology_.gpus()[g], next = topology_.gpus()[(g + 1) % topology_.gpus().size()];
    const MemoryId host = topology_.hosts().front();
    PlanDraft::Deps deps;
    if (k % 4 == 0) deps.push_back(copy(host, gpu));
    if (k % 4 == 2) deps.push_back(copy(next, gpu));
    const View& all = tiles_[gpu.index()];
    last = draft_.gemm(draft_.compute_queue(gpu, chain), all, all, all, {Scalar::one, Scalar::one}, deps);
    if (k == chain_length - 1) copy(gpu, host, {*last});
  }

  OpId copy(MemoryId src, MemoryId dst, const PlanDraft::Deps& deps = {}) {
    return draft_.copy(draft_.copy_queue(src, dst), tiles_[src.index()], tiles_[dst.index()], deps);
  }

  const Topology& topology_;
  PlanDraft draft_;
  std::vector<View> tiles_;  // one of each memory, by MemoryId, which all operations share
};

}  // namespace

Topology machine(const std::string& name) {
  return load_topology(std::string{TILERAIL_SOURCE_DIR} + "/topologies/" + name + ".toml");
}

Plan synthetic_plan(const Topology& topology, int64_t ops) { return SyntheticPlan{topology}.grow_to(ops); }

Plan planned_gemm(const Topology& topology, const std::string& policy, int64_t ops) {
  Policy chosen = any_preset(policy);
  chosen.choices.tile = tile;
  GemmProblem problem;
  problem.m = problem.n = problem.k = int64_t(std::cbrt(double(ops))) * tile;
  problem.place_a = problem.place_b = problem.place_c = topology.hosts().front();
  return plan_gemm(problem, topology, topology.gpus(), chosen);
}

}  // namespace tilerail::bench
