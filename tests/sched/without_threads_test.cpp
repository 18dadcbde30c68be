// Planning when no thread can be started.
#include <gtest/gtest.h>

#include "model/base/threads.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail {
namespace {

TEST(WithoutThreads, ThePlanIsTheSame) {
  const Topology machine = test::shipped("two-gpu");
  GemmProblem p;
  p.m = p.n = p.k = 3000;
  const auto hash = [&] {
    return content_hash(plan_gemm(p, machine, machine.gpus(), any_preset("tilerail")));
  };
  const std::string with_threads = hash();
  const ThreadLimit none{0};
  EXPECT_EQ(hash(), with_threads);
}

}  // namespace
}  // namespace tilerail
