// Properties of every plan, on random problems, machines and policies. RapidCheck reads
// RC_PARAMS; without it, the tests use a fixed seed and the number of cases below, so
// that failures are reproducible.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdlib>

#include "backends/host/run/host_executor.hpp"
#include "backends/sim/sim_executor.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "plan/validate.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/property/random_cases.hpp"
#include "tests/support/halves.hpp"
#include "tests/support/plan_interpreter.hpp"
#include "tests/support/plan_text.hpp"

namespace tilerail::testing {
namespace {

/// The kernels' volume equals the problem's volume. Together with a correct result on
/// random matrices this shows that every tile of C gets every k exactly once. An axpy has
/// additions instead of products.
void check_volume(const Plan& plan) {
  const GemmProblem& p = plan.gemm();
  int64_t volume = 0;
  for (const Op& op : plan.ops) {
    if (p.routine == Routine::axpy && op.kind == OpKind::axpby && reads(op, 0))
      volume += plan.result(op).rows;
    if (op.kind == OpKind::gemm)
      volume += plan.result(op).rows * plan.result(op).cols *
                gemm_depth(op, plan.operands_of(op));
  }
  RC_ASSERT(volume == (p.alpha == 0 ? 0 : p.m * p.n * p.k));
}

void check_capacity(const Plan& plan, const Topology& machine) {
  for (size_t i = 0; i < plan.peak_bytes.size(); ++i)
    if (machine.memories()[i].capacity)
      RC_ASSERT(double(plan.peak_bytes[i]) <= machine.memories()[i].capacity->value);
}

void check_order(const Plan& plan, const Timeline& timeline) {
  RC_ASSERT(timeline.ops.size() == plan.ops.size());
  constexpr double rounding = 1e-12;
  std::vector<double> queue_end(plan.queues.size(), 0.0);
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const OpTime& t = timeline.ops[i];
    RC_ASSERT(t.end >= t.start);
    RC_ASSERT(t.start >= queue_end[plan.ops[i].queue.index()] - rounding);
    for (const OpId dep : plan.deps_of(OpId{i}))
      RC_ASSERT(t.start >= timeline.ops[dep.index()].end - rounding);
    queue_end[plan.ops[i].queue.index()] = t.end;
  }
}

void check_in_simulator(const Plan& plan, const Case& c, const Topology& machine) {
  validate(plan, machine);
  check_capacity(plan, machine);
  check_volume(plan);
  RC_ASSERT(moved_bytes(plan) >= least_bytes(plan));
  if (plan.ops.size() < 1500) RC_ASSERT(find_race(plan) == "");
  const Matrices data = integer_matrices(plan.gemm(), c.seed);
  const std::vector<double> expected = reference(plan.gemm(), data);
  for (const uint64_t order : {uint64_t{0}, uint64_t{1}, c.seed})
    RC_ASSERT(interpret(plan, data, order) == expected);
  RC_ASSERT(content_hash(plan_gemm(c.problem, machine, c.devices, c.policy)) ==
            content_hash(plan));
  RC_ASSERT(content_hash(plan_from_json(to_json(plan), "plan.json")) ==
            content_hash(plan));
  SimExecutor simulator{machine};
  check_order(plan, simulator.execute(plan));
}

std::vector<uint16_t> halves(const std::vector<double>& values, DType dtype) {
  std::vector<uint16_t> bits;
  for (const double value : values) bits.push_back(test::half_bits(value, dtype));
  return bits;
}

TEST(PlanProperties, HoldOnRandomProblemsInTheSimulator) {
  EXPECT_TRUE(rc::check("plans are legal, complete, race-free and right", [] {
    const int gpus = *rc::gen::inRange(1, 9);
    const Case c =
        random_case(gpus, {DType::f64, DType::f32, DType::f16, DType::bf16, DType::tf32});
    RC_LOG() << describe(c) << std::endl;
    const Topology machine = random_machine(c, gpus);
    check_in_simulator(plan_gemm(c.problem, machine, c.devices, c.policy), c, machine);
  }));
}

TEST(PlanProperties, HoldIfManyGpusHaveNoRouteToEachOther) {
  size_t planned = 0, asked = 0;
  EXPECT_TRUE(rc::check("tiles come over other GPUs, or a missing route is named", [&] {
    const int gpus = *rc::gen::inRange(2, 9);
    const Case c = random_case(gpus, {DType::f64});
    RC_LOG() << describe(c) << std::endl;
    const Topology machine = random_machine(c, gpus, Switches::none);
    ++asked;
    try {
      check_in_simulator(plan_gemm(c.problem, machine, c.devices, c.policy), c, machine);
      ++planned;
    } catch (const InputError& error) {
      RC_LOG() << error.what() << std::endl;
      RC_ASSERT(error.subject == "devices");
    }
  }));
  EXPECT_GT(planned, asked / 2);
}

TEST(PlanProperties, HoldOnRandomProblemsOnTheHost) {
  EXPECT_TRUE(rc::check("the host backend keeps the order and gets the result right", [] {
    const int gpus = *rc::gen::inRange(1, 5);
    const Case c = random_case(gpus, {DType::f64, DType::f64, DType::f16, DType::bf16});
    RC_LOG() << describe(c) << std::endl;
    const Topology machine = random_machine(c, gpus);
    const Plan plan = plan_gemm(c.problem, machine, c.devices, c.policy);
    Matrices data = integer_matrices(plan.gemm(), c.seed);
    const std::vector<double> expected = reference(plan.gemm(), data);
    HostOptions options;
    options.workers = 2;
    options.poison = true;
    HostExecutor host{machine, options};
    host.set_matrices({data.a.data(), data.b.data(), data.c.data()});
    const DType dtype = plan.dtype();
    if (dtype == DType::f64) {
      check_order(plan, host.execute(plan));
      RC_ASSERT(data.c == expected);
      return;
    }
    auto a = halves(data.a, dtype), b = halves(data.b, dtype), y = halves(data.c, dtype);
    host.set_matrices({a.data(), b.data(), y.data()});
    check_order(plan, host.execute(plan));
    for (const auto i : indices(y))
      RC_ASSERT(test::half_value(y[i], dtype) == expected[i]);
  }));
}

}  // namespace
}  // namespace tilerail::testing
