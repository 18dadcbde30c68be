#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "tests/api/fake_hardware.hpp"
#include "tests/api/multiplication.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail::api {
namespace {

using namespace test;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class EachPolicy : public ::testing::TestWithParam<std::string> {};

TEST_P(EachPolicy, OnePlanServesAllAlphaAndBeta) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles(GetParam()));
  const double values[] = {2, 3, 1, -1, 0.5, 2.5};
  for (const double alpha : values) {
    for (const double beta : values) {
      Multiplication call{40, 50, 64, alpha, beta};
      GemmTimes times;
      session->gemm(call.x, {.times = &times});
      EXPECT_EQ(times.planned, alpha == 2 && beta == 2);
      call.expect_right();
    }
  }
  EXPECT_EQ(log->binds, 1);
  EXPECT_EQ(session->cached_plans(), 1u);
}

TEST_P(EachPolicy, BetaZeroNeverReadsC) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles(GetParam()));
  Multiplication call{40, 50, 64, 1.5, 0};
  std::fill(call.c.begin(), call.c.end(), nan);
  session->gemm(call.x);
  for (int64_t j = 0; j < call.x.n; ++j)
    for (int64_t i = 0; i < call.x.m; ++i)
      ASSERT_FALSE(std::isnan(call.c[size_t(i + j * call.x.ldc)]));
  call.x.beta = 2;  // another plan: this one reads C
  session->gemm(call.x);
  EXPECT_EQ(log->binds, 2);
}

TEST_P(EachPolicy, WithoutAProductCIsScaledAndNeitherANorBIsTouched) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles(GetParam()));
  for (const double beta : {2.5, 0.0, -1.0}) {
    Multiplication by_alpha{40, 50, 64, 0, beta}, by_k{40, 50, 64, 1, beta};
    by_k.x.k = 0;
    for (Multiplication* call : {&by_alpha, &by_k}) {
      call->x.a = call->x.b = nullptr;
      if (beta == 0) call->c[0] = nan;
      session->gemm(call->x);
      if (beta == 0) call->before[0] = 0;
      call->expect_right();
    }
  }
  EXPECT_EQ(log->binds,
            2);  // beta == 0 or not; alpha == 0 and k == 0 are the same problem
}

INSTANTIATE_TEST_SUITE_P(Session, EachPolicy,
                         ::testing::Values("caching=off", "c-tiles=lazy",
                                           "c-tiles=eager"));

TEST(Session, CallsWithoutWorkOnlyWaitForEarlierCalls) {
  const auto log = std::make_shared<Log>();
  log->page_locked = true;
  const auto session = fake_session(log, small_tiles());
  Multiplication earlier{8, 8, 8, 2, 3};
  for (const auto& change : std::vector<void (*)(GemmArguments&)>{
           [](GemmArguments& x) { x.m = 0; },
           [](GemmArguments& x) { x.n = 0; },
           [](GemmArguments& x) { x.alpha = 0, x.beta = 1; },
           [](GemmArguments& x) { x.k = 0, x.beta = 1; },
       }) {
    Multiplication call{8, 8, 8, 2, 3};
    change(call.x);
    session->gemm(earlier.x, {.wait = false});
    log->steps.clear();
    session->gemm(call.x, {.wait = false});
    EXPECT_TRUE(log->steps.empty());
    session->gemm(call.x);
    EXPECT_EQ(log->steps, std::vector<std::string>{"synchronize"});
    EXPECT_EQ(call.c, call.before);
  }
  EXPECT_EQ(session->cached_plans(), 1u) << "only of the earlier calls";
}

TEST(Session, NanPropagatesAsInBlas) {
  const auto session = fake_session(std::make_shared<Log>(), small_tiles());
  Multiplication call{20, 20, 20, nan, 1};
  session->gemm(call.x);
  EXPECT_TRUE(std::isnan(call.c[0]));
  Multiplication scaled{20, 20, 20, 0, nan};
  session->gemm(scaled.x);
  EXPECT_TRUE(std::isnan(scaled.c[0]));
}

TEST(Session, MatricesAreReadAfterTheCallersStreamAndReleasedAfterTheRun) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles());
  Multiplication call{20, 20, 20, 1, 1};
  int stream = 0;
  session->gemm(call.x, {.stream = &stream});
  EXPECT_EQ(log->stream, &stream);
  EXPECT_EQ(log->steps,
            (std::vector<std::string>{"wait", "access", "run", "finish", "release"}));
}

TEST(Session, ARunThatFailsReleasesTheMatricesAndLeavesTheSessionUsable) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles());
  Multiplication call{20, 20, 20, 1, 1};
  log->failures = 1;
  EXPECT_THROW(session->gemm(call.x), std::runtime_error);
  EXPECT_EQ(log->steps, (std::vector<std::string>{"wait", "access", "run", "release"}));
  session->gemm(call.x);
  call.expect_right();
  EXPECT_EQ(log->binds, 1);
}

TEST(Session, PlacesComeFromThePointers) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles());
  Multiplication call{40, 50, 64, 2, 1};
  log->on_device = {{call.a.data(), 0}, {call.c.data(), 1}};
  session->gemm(call.x);
  call.expect_right();
  log->on_device.clear();
  session->gemm(call.x);
  EXPECT_EQ(log->binds, 2) << "other places are another problem";
  log->on_device = {{call.b.data(), 5}};
  expect_input_error([&] { session->gemm(call.x); }, {"matrix B: lies on CUDA device 5"});
}

TEST(Session, ThreadsCanShareASession) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles());
  std::vector<Multiplication> calls;
  for (unsigned t = 0; t < 4; ++t)
    calls.emplace_back(40, 30, 50, 1.0 + t, 0.5 * t, 10 * t);
  for (Multiplication& call : calls)
    call.x.a = call.a.data(), call.x.b = call.b.data(), call.x.c = call.c.data();
  std::vector<std::thread> threads;
  for (Multiplication& call : calls) threads.emplace_back([&] { session->gemm(call.x); });
  for (std::thread& thread : threads) thread.join();
  for (const Multiplication& call : calls) call.expect_right();
}

}  // namespace
}  // namespace tilerail::api
