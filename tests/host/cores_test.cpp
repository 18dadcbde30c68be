// Cores of a host next to devices of worker threads, executed.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "backends/host/measure/host_machine.hpp"
#include "backends/host/run/host_executor.hpp"
#include "check/reference.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"

namespace tilerail {
namespace {

/// Flops of products by memory of the processor.
std::map<MemoryId, double> flops_of(const Plan& plan) {
  std::map<MemoryId, double> flops;
  for (const Op& op : plan.ops)
    if (op.kind == OpKind::gemm)
      flops[plan.queue(op.queue).dst] += op_flops(op, plan.operands_of(op)).value;
  return flops;
}

TEST(Cores, ShareAGemmByTheirRates) {
  const Topology machine{host_machine(1, 3, 1)};  // a device of 3 workers, and 1 core
  const MemoryId host{0}, device{1};
  ASSERT_TRUE(machine.computes(host));
  EXPECT_EQ(machine.processor_name(host), "cpu0");
  HostExecutor executor{machine, {.workers = 0, .poison = true}};
  EXPECT_EQ(executor.workers(0), 3);
  EXPECT_EQ(executor.workers(1), 1);
  GemmProblem p;
  p.m = p.n = 32 * 8, p.k = 100, p.beta = 0.5;
  Policy policy = any_preset("gemmex");
  apply_override(policy, "shares=speed");
  policy.choices.tile = 32;
  const Plan plan = plan_gemm(p, machine, machine.processors(), policy);
  auto flops = flops_of(plan);
  EXPECT_NEAR(flops[device] / flops[host], 3, 1e-9);  // 48 and 16 of 64 tiles
  for (const Buffer& buffer : plan.buffers)
    EXPECT_TRUE(!buffer.in_arena || buffer.memory == device) << "cores work in place";
  const GemmData data{plan.gemm(), 5};
  executor.set_matrices(data.matrices());
  executor.execute(plan);
  const GemmCheck check = data.check();
  EXPECT_TRUE(check.passed()) << check.summary();
}

}  // namespace
}  // namespace tilerail
