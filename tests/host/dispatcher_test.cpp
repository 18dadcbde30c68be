// The order of the dispatcher, tested with operations that read their predecessors'
// results.

#include "backends/host/run/dispatcher.hpp"

#include <gmock/gmock.h>

#include <random>

#include "backends/host/run/worker_pool.hpp"
#include "model/base/error.hpp"
#include "tests/support/tiled_plan.hpp"

namespace tilerail::host {
namespace {

constexpr int devices = 3, workers = 2;

GemmProblem small_problem() {
  GemmProblem p;
  p.m = p.n = p.k = 8;
  return p;
}

/// Copies in nine queues of three devices, every fifth one a join, each with up to three
/// dependencies.
Plan random_plan(const Topology& topology, size_t count, uint64_t seed) {
  std::mt19937_64 random{seed};
  PlanDraft draft{topology, small_problem()};
  std::vector<View> tiles;
  for (const MemoryId gpu : topology.gpus()) tiles.push_back(draft.tile(gpu, 8, 8));
  for (size_t i = 0; i < count; ++i) {
    const size_t device = random() % devices;
    const MemoryId gpu = topology.gpus()[device];
    PlanDraft::Deps deps;
    for (size_t d = 0; i > 0 && d < random() % 4; ++d)
      deps.push_back(OpId{i - 1 - random() % std::min<size_t>(i, 20)});
    std::sort(deps.begin(), deps.end());
    deps.erase(std::unique(deps.begin(), deps.end()), deps.end());
    if (i % 5 == 4) {
      draft.join(draft.compute_queue(gpu), deps);
    } else {
      draft.copy(draft.copy_queue(MemoryId{0}, gpu, int(random() % 3)), draft.a(),
                 tiles[device], deps);
    }
  }
  return draft.plan;
}

/// The predecessors of each operation: its dependencies and its queue predecessor.
std::vector<std::vector<size_t>> predecessors(const Plan& plan) {
  std::vector<std::vector<size_t>> result(plan.ops.size());
  std::vector<std::optional<size_t>> last(plan.queues.size());
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    for (const OpId dep : plan.deps_of(OpId{i})) result[i].push_back(dep.index());
    auto& before = last[plan.ops[i].queue.index()];
    if (before) result[i].push_back(*before);
    before = i;
  }
  return result;
}

/// Length of the longest path to each operation, without joins.
class Depths {
 public:
  explicit Depths(const Plan& plan)
      : plan_{plan}, before_{predecessors(plan)}, of_(plan.ops.size(), 0) {}

  /// Computes the depth of `op` from its predecessors' depths. Reads without atomics, so
  /// that sanitizers detect races.
  void compute(size_t op) { of_[op] = 1 + deepest_before(op); }

  std::vector<int> in_plan_order() {
    for (size_t i = 0; i < of_.size(); ++i)
      if (plan_.ops[i].kind != OpKind::join) compute(i);
    return of_;
  }
  void clear() { of_.assign(of_.size(), 0); }
  const std::vector<int>& all() const { return of_; }

 private:
  int deepest_before(size_t op) const {
    int deepest = 0;
    for (const size_t p : before_[op])
      deepest = std::max(deepest,
                         plan_.ops[p].kind == OpKind::join ? deepest_before(p) : of_[p]);
    return deepest;
  }

  const Plan& plan_;
  std::vector<std::vector<size_t>> before_;
  std::vector<int> of_;
};

TEST(Dispatcher, AnOperationReadsTheResultsOfEarlierOperations) {
  const Topology topology = test::machine(devices, workers);
  WorkerPool pool{std::vector<int>(devices, workers)};
  Dispatcher dispatcher{devices};
  for (const uint64_t seed : {1, 2, 3}) {
    const Plan plan = random_plan(topology, 300, seed);
    const std::vector<int> expected = Depths{plan}.in_plan_order();
    Depths depths{plan};
    dispatcher.prepare(plan, topology, topology.gpus());
    for (int run = 0; run < 20; ++run) {
      depths.clear();
      std::vector<OpTime> times(plan.ops.size());
      dispatcher.reset();
      pool.run(
          [&](WorkerId id) {
            dispatcher.work(id.device, [&](OpId op) {
              depths.compute(op.index());
              return true;
            });
          },
          [&] { dispatcher.start(times); });
      ASSERT_EQ(depths.all(), expected) << "seed " << seed << ", run " << run;
    }
  }
}

TEST(Dispatcher, OneOfSeveralFailuresIsReportedAndTheNextRunIsClean) {
  const Topology topology = test::machine(devices, workers);
  WorkerPool pool{std::vector<int>(devices, workers)};
  Dispatcher dispatcher{devices};
  const Plan plan = random_plan(topology, 300, 4);
  dispatcher.prepare(plan, topology, topology.gpus());
  std::vector<OpTime> times(plan.ops.size());
  const auto run = [&](const std::function<bool(OpId)>& op) {
    dispatcher.reset();
    pool.run([&](WorkerId id) { dispatcher.work(id.device, op); },
             [&] { dispatcher.start(times); });
  };
  for (int i = 0; i < 50; ++i) {
    run([](OpId op) {
      if (op.value >= 100) throw fault_of("", "no " + std::to_string(op.value));
      return true;
    });
    ASSERT_TRUE(dispatcher.failure().has_value());
    EXPECT_GE(dispatcher.failure()->op->value, 100);
    EXPECT_EQ(dispatcher.failure()->what,
              "no " + std::to_string(dispatcher.failure()->op->value));
    EXPECT_TRUE(dispatcher.failure()->bad_input);
    run([](OpId) { return true; });
    EXPECT_FALSE(dispatcher.failure().has_value());
  }
}

}  // namespace
}  // namespace tilerail::host
