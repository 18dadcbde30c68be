#include "study/runner.hpp"
#include "model/machine/topology_toml.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "backends/factory.hpp"
#include "model/base/error.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::study {
namespace {

using ::testing::ElementsAre;

Topology machine() { return test::shipped("two-gpu"); }

/// 2 x 2 x 2 tiles on two GPUs.
Plan small_plan(const Topology& topology) {
  GemmProblem problem;
  problem.m = problem.n = problem.k = 64;
  Policy policy = any_preset("gemmex");
  policy.choices.tile = 32;
  return plan_gemm(problem, topology, topology.gpus(), policy);
}

/// Wraps the host executor: traces and first calls take time, and devices count 1 J per
/// second.
class SlowTracer final : public RealExecutor {
 public:
  explicit SlowTracer(const Topology& topology, std::vector<std::string>& log)
      : host_{make_real_executor("host", topology)}, log_{log} {}

  Timeline execute(const Plan& plan) override { return host_->execute(plan); }
  std::unique_ptr<TestMatrices> test_matrices(std::span<const Plan* const> plans,
                                              const TestMatrixOptions& options) override {
    return host_->test_matrices(plans, options);
  }
  void bind(const Plan& plan, const Matrices& matrices) override {
    log_.push_back("bind");
    host_->bind(plan, matrices);
  }
  CallTimes call() override {
    log_.push_back("call");
    host_->call();
    return {.wall = 1.0 * double(log_.size()), .issue_per_op = 2};
  }
  TracedCall traced_call() override {
    log_.push_back("traced");
    TracedCall call = host_->traced_call();
    call.times.wall = 7, call.tracer = "pencil", call.clock_skew = 0.5;
    return call;
  }
  bool has_overheads() const override { return true; }
  std::unique_ptr<EnergyCount> count_energy(std::span<const MemoryId> devices) override {
    log_.push_back("energy");
    struct Count final : EnergyCount {
      explicit Count(size_t given) : devices{given} {}
      double now() const override { return double(++reads); }
      std::optional<CountedEnergy> stop(std::span<const double> ends) override {
        return CountedEnergy{int(ends.size()) - 1, 1, std::vector<double>(devices, 1)};
      }
      size_t devices;
      mutable int reads = 0;
    };
    return std::make_unique<Count>(devices.size());
  }

 private:
  std::unique_ptr<RealExecutor> host_;
  std::vector<std::string>& log_;
};

TEST(Runner, TheTimelineOnTheHostShowsTheMedianIteration) {
  const Topology topology = machine();
  const Plan plan = small_plan(topology);
  const std::array plans{&plan};
  Runner runner{"host", topology, plans, {.iterations = 4, .check = true}};
  const RunResult result = runner.run(plan);
  std::vector<double> ascending = result.makespans;
  std::sort(ascending.begin(), ascending.end());
  ASSERT_EQ(ascending.size(), 4u);
  EXPECT_EQ(result.median(), ascending[1]);  // the lower of the two middle values
  EXPECT_EQ(result.timeline.makespan().value, result.median());
  EXPECT_EQ(result.timeline.plan_hash, content_hash(plan));
  ASSERT_TRUE(result.check);
  EXPECT_TRUE(result.check->passed) << result.check->summary;
  EXPECT_FALSE(result.gpu);
}

TEST(Runner, OverheadsAreTimedApart) {
  const Topology topology = machine();
  const Plan plan = small_plan(topology);
  const std::array plans{&plan};
  std::vector<std::string> log;
  const RunSettings settings{
      .warmup = 2, .iterations = 2, .check = true, .energy_seconds = 1};
  Runner runner{std::make_unique<SlowTracer>(topology, log), plans, settings};
  const RunResult result = runner.run(plan);
  // The first call, two warm-up calls, two iterations; a warm-up trace and the final
  // trace; the checked call; and calls until the clock, which advances 1 s per call, is
  // 1.25 s after the end of the first of them.
  EXPECT_THAT(log, ElementsAre("bind", "call", "call", "call", "call", "call", "traced",
                               "traced", "call", "energy", "call", "call", "call"));
  EXPECT_THAT(result.makespans, ElementsAre(5, 6));
  ASSERT_TRUE(result.check && result.gpu && result.gpu->energy);
  EXPECT_TRUE(result.check->passed) << result.check->summary;
  EXPECT_EQ(result.gpu->issue_per_op, 2);
  EXPECT_EQ(result.gpu->traced_s, 7);
  EXPECT_EQ(result.gpu->tracer, "pencil");
  EXPECT_EQ(result.gpu->clock_skew, 0.5);
  EXPECT_EQ(result.gpu->energy->calls, 2);
  EXPECT_EQ(result.gpu->energy->total(), double(plan.devices.size()));
}

TEST(Runner, AWrongResultDoesNotPass) {
  const Topology topology = machine();
  Plan plan = small_plan(topology);
  const auto last = std::find_if(plan.ops.rbegin(), plan.ops.rend(),
                                 [](const Op& op) { return op.kind == OpKind::gemm; });
  last->alpha = Scalar::zero;
  const std::array plans{&plan};
  Runner runner{"host", topology, plans, {.check = true}};
  EXPECT_FALSE(runner.run(plan).check->passed);
}

TEST(Runner, APlanThatDoesNotFitInMemoryIsRefusedImmediately) {
  const Topology topology = machine();
  Plan plan = small_plan(topology);
  plan.peak_bytes[1] = int64_t{1} << 60;
  const std::array plans{&plan};
  EXPECT_THROW(Runner("host", topology, plans, {}), InputError);
}

TEST(Factory, ListsTheBackends) {
  const Topology topology = machine();
  expect_input_error([&] { make_executor("gpu", topology); },
                     {"'gpu' is not a backend; expected one of: sim, host, cuda"});
  expect_input_error(
      [&] { make_real_executor("sim", topology); },
      {"'sim' is not a backend that runs plans; expected one of: host, cuda"});
  EXPECT_THROW(require_real_executor("sim"), InputError);
  EXPECT_NO_THROW(require_real_executor("host"));
}

}  // namespace
}  // namespace tilerail::study
