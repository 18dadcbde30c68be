// GPUs whose memory other programs have taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/api/fake_hardware.hpp"
#include "tests/api/multiplication.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail::api {
namespace {

using namespace test;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr int64_t matrix_side = 256;  // a matrix has 512 KiB

class MemoryShortage : public ::testing::Test {
 protected:
  MemoryId gpu(int number) const { return *machine_.find_gpu(number); }
  PlanInfo call(Session& session) {
    Multiplication product{matrix_side, matrix_side, 64, 2, 1};
    PlanInfo info;
    session.gemm(product.x, {.plan = &info});
    product.expect_right();
    return info;
  }

  std::shared_ptr<Log> log_ = std::make_shared<Log>();
  Topology machine_ = FakeHardware::machine();
};

TEST_F(MemoryShortage, PlansWithTheFreeMemoryAndReportsTheShortage) {
  const auto session = fake_session(log_);
  log_->room = {{gpu(0), 400'000}, {gpu(1), 400'000}};
  const PlanInfo info = call(*session);
  EXPECT_THAT(info.why,
              HasSubstr("memory was short: free for tiles were 400.0 kB in 'gpu0'"));
  for (const int64_t bytes : log_->plan->peak_bytes) EXPECT_LE(bytes, 400'000);
  call(*session);
  EXPECT_EQ(log_->binds, 1) << "the plan is kept";
}

TEST_F(MemoryShortage, LeavesOutAGpuThatIsFull) {
  const auto session = fake_session(log_);
  log_->room = {{gpu(0), 0}};
  EXPECT_THAT(call(*session).devices, ElementsAre(1));
}

TEST_F(MemoryShortage, ReportsNothingIfMemorySuffices) {
  const auto session = fake_session(log_);
  EXPECT_THAT(call(*session).why, Not(HasSubstr("short")));
}

TEST_F(MemoryShortage, ReplansIfTheMemoryOfACachedPlanIsGone) {
  const auto session = fake_session(log_);
  call(*session);
  log_->arena_gone = true;
  log_->room = {{gpu(0), 400'000}, {gpu(1), 400'000}};
  EXPECT_THAT(call(*session).why, HasSubstr("memory was short"));
  EXPECT_EQ(log_->binds, 2);
  EXPECT_EQ(session->cached_plans(), 1u) << "the new plan replaces the old one";
  call(*session);
  EXPECT_EQ(log_->binds, 2) << "the new plan is kept";

  log_->arena_gone = log_->page_locked = true;
  Multiplication product{matrix_side, matrix_side, 64, 2, 1};
  session->gemm(product.x, {.wait = false});
  product.expect_right();
  EXPECT_EQ(log_->binds, 3) << "also for a call that does not wait";
}

TEST_F(MemoryShortage, FailsOnlyIfNoPlanFits) {
  const auto session = fake_session(log_);
  log_->room = {{gpu(0), 100}, {gpu(1), 50}};
  expect_input_error([&] { call(*session); }, {"free for tiles are 100 B in 'gpu0'"});
  EXPECT_EQ(session->cached_plans(), 0u);
  log_->room.clear();
  EXPECT_THAT(call(*session).why, Not(HasSubstr("short")));
}

}  // namespace
}  // namespace tilerail::api
