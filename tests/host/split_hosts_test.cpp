// Plans that stage tiles on several hosts, executed with real numbers.
#include <gtest/gtest.h>

#include <string>

#include "backends/host/run/host_executor.hpp"
#include "check/reference.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/split_hosts.hpp"

namespace tilerail {
namespace {

TEST(SplitHosts, TilesThatAreStagedOnSeveralHostsGiveTheRightProduct) {
  for (const int hosts : {2, 3}) {
    const Topology machine{small_machine::split_hosts(hosts)};
    HostExecutor executor{machine, {.workers = 2, .poison = true}};
    for (const char* name : {"cublasxt", "xkblas", "tilerail"})
      for (const DType dtype : {DType::f64, DType::f32}) {
        SCOPED_TRACE(std::to_string(hosts) + " hosts, " + name);
        GemmProblem p;
        p.m = 150, p.n = 170, p.k = 130, p.dtype = dtype, p.beta = 0.5;
        p.place_a = machine.gpus().front(), p.place_b = machine.gpus().back(),
        p.place_c = machine.gpus()[1];
        Policy policy = any_preset(name);
        policy.choices.tile = 32, policy.effort = Effort::fast,
        policy.device_choice = DeviceChoice::all;
        apply_override(policy, "peer-copies=staged");
        const Plan plan = plan_gemm(p, machine, machine.gpus(), policy);
        const GemmData data{plan.gemm(), 11};
        executor.set_matrices(data.matrices());
        executor.execute(plan);
        EXPECT_TRUE(data.check().passed()) << data.check().summary();
      }
  }
}

}  // namespace
}  // namespace tilerail
