// Calls of several threads on one session.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <thread>

#include "api/handle.hpp"
#include "tests/api/fake_hardware.hpp"
#include "tests/api/multiplication.hpp"
#include "tests/support/allocations.hpp"
#include "tilerail/tilerail.h"

namespace tilerail::api {
namespace {

using namespace test;

/// Holds the first thread that passes it until it is opened.
class Gate {
 public:
  ~Gate() { open(); }
  void pass() {
    if (used_.exchange(true)) return;
    reached_.count_down();
    opened_.wait();
    passed_ = true;
  }
  void await() { reached_.wait(); }
  void open() {
    if (!open_.exchange(true)) opened_.count_down();
  }
  bool passed() const { return passed_; }

 private:
  std::atomic<bool> used_ = false, open_ = false, passed_ = false;
  std::latch reached_{1}, opened_{1};
};

constexpr int64_t held_rows = 41;  // of the product that a gate holds

class OverlappingCalls : public ::testing::Test {
 protected:
  OverlappingCalls() {
    log_->in_run = [this](const Plan& plan) {
      if (plan.gemm().m == held_rows) run_.pass();
    };
  }

  /// Starts `call`, and returns when its run is held.
  std::future<void> held_in_run(std::function<void()> call) {
    auto end = std::async(std::launch::async, std::move(call));
    run_.await();
    return end;
  }
  std::future<void> held_in_run() {
    return held_in_run([this] { session_->gemm(held_.x); });
  }
  /// Starts a call, and returns when its planning is held.
  std::future<void> held_in_planning(GemmTimes& times, PlanInfo& info,
                                     int allocation = 300) {
    auto end = std::async(std::launch::async, [&, allocation] {
      const std::function<void()> hold = [this] { planning_.pass(); };
      tilerail::test::at_allocation(allocation, hold);
      session_->gemm(held_.x, {.times = &times, .plan = &info});
      tilerail::test::at_allocation(0, hold);
    });
    planning_.await();
    const std::lock_guard lock{log_->mutex};
    EXPECT_EQ(log_->binds, 0) << "it is planning no more";
    return end;
  }

  /// Whether a call ends although others are held. The time limit matters only for
  /// failures.
  bool ends(std::function<void()> call) {
    auto end = std::async(std::launch::async, std::move(call));
    const bool over = end.wait_for(std::chrono::seconds{60}) == std::future_status::ready;
    if (!over) run_.open(), planning_.open(), open_others_();
    end.get();
    return over;
  }
  bool ends(Multiplication& product) {
    return ends([&] { session_->gemm(product.x); });
  }

  std::shared_ptr<Log> log_ = std::make_shared<Log>();
  Gate run_, planning_;
  std::function<void()> open_others_ = [] {};  // gates of a test
  std::unique_ptr<Session> session_ = fake_session(log_, small_tiles());
  Multiplication held_{held_rows, 50, 64, 2, 3, 1};
};

TEST_F(OverlappingCalls, OfOtherProblemsRunDuringARun) {
  auto held = held_in_run();
  Multiplication other{40, 30, 64, 1, 2};
  EXPECT_TRUE(ends(other));
  other.expect_right();
  EXPECT_EQ(held_.c, held_.before);
  run_.open();
  held.get();
  held_.expect_right();
  EXPECT_EQ(log_->lanes_of_runs, (std::vector<int>{1, 0}));
}

TEST_F(OverlappingCalls, OfTheSameProblemRunDuringARunAndShareThePlan) {
  auto held = held_in_run();
  Multiplication same{held_rows, 50, 64, 1.5, 0.5, 20};
  GemmTimes times;
  EXPECT_TRUE(ends([&] { session_->gemm(same.x, {.times = &times}); }));
  EXPECT_FALSE(times.planned);
  same.expect_right();
  run_.open();
  held.get();
  held_.expect_right();
  EXPECT_EQ(session_->cached_plans(), 1u);
  EXPECT_EQ(log_->binds, 2) << "one in each lane";
}

TEST_F(OverlappingCalls, RunWhileAnotherCallBindsItsPlan) {
  log_->in_bind = log_->in_run;
  auto held = held_in_run();
  EXPECT_EQ(log_->binds, 0);
  Multiplication other{40, 30, 64, 1, 2};
  EXPECT_TRUE(ends(other));
  run_.open();
  held.get();
  held_.expect_right();
}

TEST_F(OverlappingCalls, RunWhileAnotherCallPlans) {
  Multiplication other{40, 30, 64, 1, 2};
  GemmTimes times;
  PlanInfo info;
  auto held = held_in_planning(times, info);
  EXPECT_TRUE(ends(other));
  other.expect_right();
  run_.open(), planning_.open();
  held.get();
  held_.expect_right();
}

TEST_F(OverlappingCalls, RunWhileAnotherCallSearches) {
  session_->set_policy("tilerail");
  session_->set_override("effort=normal");
  Multiplication other{40, 30, 64, 1, 2};
  GemmTimes times;
  PlanInfo info;
  auto held = held_in_planning(times, info, 5000);
  session_->set_override("effort=fast");
  EXPECT_TRUE(ends(other));
  other.expect_right();
  run_.open(), planning_.open();
  held.get();
  held_.expect_right();
  EXPECT_EQ(info.by, PlanInfo::By::simulator);
}

TEST_F(OverlappingCalls, PlanAProblemOnce) {
  std::vector<GemmTimes> times(4);
  PlanInfo info;
  auto held = held_in_planning(times[0], info);
  std::vector<Multiplication> calls;
  for (unsigned t = 1; t < 4; ++t)
    calls.emplace_back(held_rows, 50, 64, 1.0 + t, 0.5 * t, 10 * t);
  std::vector<std::thread> threads;
  std::latch started{3};
  run_.open();
  for (size_t t = 1; t < 4; ++t)
    threads.emplace_back([&, t] {
      Multiplication& call = calls[t - 1];
      call.x.a = call.a.data(), call.x.b = call.b.data(), call.x.c = call.c.data();
      started.count_down();
      session_->gemm(call.x, {.times = &times[t]});
    });
  started.wait();
  planning_.open();
  held.get();
  for (std::thread& thread : threads) thread.join();
  held_.expect_right();
  for (const Multiplication& call : calls) call.expect_right();
  EXPECT_EQ(std::ranges::count(times, true, &GemmTimes::planned), 1);
}

TEST_F(OverlappingCalls, OfTheCInterfaceHaveErrorsOfTheirThread) {
  tilerail_context handle{Context{std::move(session_)}};
  const auto call = [&](const Multiplication& product) {
    const GemmArguments& x = product.x;
    return tilerail_gemm_ex(&handle, TILERAIL_F64, 'N', 'T', x.m, x.n, x.k, x.alpha, x.a,
                            x.lda, x.b, x.ldb, x.beta, x.c, x.ldc, nullptr);
  };
  auto held = held_in_run([&] {
    EXPECT_EQ(call(held_), TILERAIL_SUCCESS);
    EXPECT_STREQ(tilerail_last_error(&handle), "") << "of another thread";
  });
  Multiplication other{40, 30, 64, 1, 2};
  EXPECT_TRUE(ends([&] {
    log_->failures = 1;
    EXPECT_EQ(call(other), TILERAIL_EXECUTION_FAILED);
    EXPECT_STRNE(tilerail_last_error(&handle), "");
    EXPECT_EQ(call(other), TILERAIL_SUCCESS);
  }));
  other.expect_right();
  run_.open();
  held.get();
  held_.expect_right();
}

TEST_F(OverlappingCalls, OfLaterSettingsLeaveEarlierCallsUnchanged) {
  GemmTimes times;
  PlanInfo before, after;
  auto held = held_in_planning(times, before);
  run_.open();
  EXPECT_TRUE(ends([&] {
    session_->set_policy("tilerail");
    session_->set_override("tile=32");
    session_->set_devices({1});
    session_->set_pageable(Pageable::staged);
    session_->set_plan_cache("");
    session_->free_host(session_->allocate_host(1000, HostPages::plain));
    session_->synchronize();
    session_->gemm(Multiplication{held_rows, 50, 64, 2, 3}.x, {.plan = &after});
  }));
  EXPECT_EQ(session_->policy(), "tilerail+tile=32");
  planning_.open();
  held.get();
  held_.expect_right();
  EXPECT_EQ(before.tile, 16);
  EXPECT_EQ(before.devices, (std::vector<int>{0, 1}));
  EXPECT_EQ(after.tile, 32);
  EXPECT_EQ(after.devices, std::vector<int>{1});
  EXPECT_EQ(session_->cached_plans(), 1u) << "the earlier plan is not in the new cache";
}

TEST_F(OverlappingCalls, KeepAnEvictedPlanUntilTheirEnd) {
  ContextOptions one = small_tiles();
  one.cached_plans = 1;
  session_ = fake_session(log_, one);
  auto held = held_in_run();
  for (const int64_t rows : {10, 20, 30}) {
    Multiplication other{rows, 30, 64, 1, 2};
    EXPECT_TRUE(ends(other));
    other.expect_right();
  }
  EXPECT_EQ(session_->cached_plans(), 1u);
  run_.open();
  held.get();
  held_.expect_right();
}

TEST_F(OverlappingCalls, FailAlone) {
  auto held = held_in_run();
  log_->failures = 1;
  Multiplication other{40, 30, 64, 1, 2};
  EXPECT_TRUE(ends([&] { EXPECT_THROW(session_->gemm(other.x), std::runtime_error); }));
  EXPECT_TRUE(ends(other));
  other.expect_right();
  run_.open();
  held.get();
  held_.expect_right();
}

TEST_F(OverlappingCalls, UseTheCopiesThatWereKeptAtTheirBegin) {
  const std::vector<double> a = held_.a;
  session_->keep(a.data(), held_.x.m, held_.x.k, held_.x.lda, sizeof(double));
  held_.x.a = a.data();
  GemmTimes times;
  PlanInfo info;
  auto held = held_in_planning(times, info);
  run_.open();
  EXPECT_TRUE(ends([&] { session_->release(a.data()); }));
  planning_.open();
  held.get();
  EXPECT_TRUE(log_->plan->gemm().place_a.is_replicated());
  held_.expect_right();
}

TEST_F(OverlappingCalls, EndBeforeTheirMemoryIsReleased) {
  const auto waits = [&](const std::function<void(Session&)>& member) {
    Gate gate;
    log_->in_run = [&](const Plan&) { gate.pass(); };
    auto held = std::async(std::launch::async, [&] { session_->gemm(held_.x); });
    gate.await();
    std::latch started{1};
    auto end = std::async(std::launch::async, [&] {
      started.count_down();
      member(*session_);
      return gate.passed();
    });
    started.wait();
    gate.open();
    held.get();
    return end.get();
  };
  void* const memory = session_->allocate_host(1000, HostPages::plain);
  EXPECT_TRUE(waits([](Session& x) { x.synchronize(); }));
  EXPECT_TRUE(waits([&](Session& x) { x.free_host(memory); }));
  EXPECT_TRUE(
      waits([&](Session& x) { EXPECT_THROW(x.unregister_memory(memory), InputError); }));
  const std::vector<double> kept(4);
  EXPECT_TRUE(waits([&](Session& x) { x.keep(kept.data(), 2, 2, 2, sizeof(double)); }));
  EXPECT_TRUE(waits([&](Session& x) { x.release(kept.data()); }));
  EXPECT_TRUE(waits([](Session& x) { x.reserve(1000); }));
}

/// The reservation waits for the run in the last lane.
TEST_F(OverlappingCalls, RunWhileAReservationWaits) {
  std::array<Gate, 4> gates;
  log_->in_run = [&](const Plan& plan) {
    if (plan.gemm().m <= 4) gates[size_t(plan.gemm().m - 1)].pass();
  };
  std::vector<std::future<void>> ends_of_runs;
  for (const int64_t rows : {1, 2, 3, 4}) {
    ends_of_runs.push_back(std::async(std::launch::async, [this, rows] {
      session_->gemm(Multiplication{rows, 30, 64, 1, 2}.x);
    }));
    gates[size_t(rows - 1)].await();
  }
  for (size_t lane = 0; lane < 3; ++lane) {
    gates[lane].open();
    ends_of_runs[lane].get();
  }
  open_others_ = [&] { gates[3].open(); };
  auto reservation = std::async(std::launch::async, [&] { session_->reserve(1000); });
  Multiplication other{40, 30, 64, 1, 2};
  EXPECT_TRUE(ends(other));
  other.expect_right();
  gates[3].open();
  ends_of_runs[3].get();
  reservation.get();
}

/// A second lane has too little memory for the second product.
TEST_F(OverlappingCalls, WaitIfMemoryDoesNotSufficeForBoth) {
  Multiplication first{held_rows, 900, 64, 1, 2}, second{held_rows + 1, 900, 64, 1, 2},
      small{8, 8, 8, 1, 2};
  session_->gemm(Multiplication{held_rows + 1, 900, 64, 1, 2}.x);
  log_->tile_memory = std::ranges::max(log_->plan->peak_bytes) * 3 / 2;
  session_ = fake_session(log_, small_tiles());
  auto held = held_in_run([&] { session_->gemm(first.x); });
  PlanInfo info;
  auto waiting =
      std::async(std::launch::async, [&] { session_->gemm(second.x, {.plan = &info}); });
  EXPECT_TRUE(ends(small));
  small.expect_right();
  run_.open();
  held.get();
  waiting.get();
  first.expect_right();
  second.expect_right();
  EXPECT_EQ(info.why.find("short"), std::string::npos) << "it was not planned for less";
  const int lane = log_->lanes_of_runs.back();
  EXPECT_EQ(lane % 4, 0) << "the first lane";
  session_->gemm(second.x);
  EXPECT_EQ(log_->lanes_of_runs.back(), lane);
}

TEST_F(OverlappingCalls, OfOneThreadStayInOrder) {
  log_->page_locked = true;
  int streams[2] = {};
  Multiplication first{40, 30, 64, 1, 2}, other{50, 30, 64, 1, 2};
  session_->gemm(first.x, {.stream = &streams[0], .wait = false});
  session_->gemm(other.x, {.stream = &streams[1], .wait = false});
  EXPECT_EQ(log_->synchronized, 0);
  EXPECT_EQ(log_->lanes_of_runs, (std::vector<int>{0, 0}));
  Multiplication elsewhere{60, 30, 64, 1, 2};
  EXPECT_TRUE(ends(elsewhere));
  EXPECT_EQ(log_->lanes_of_runs.back(), 1) << "of another thread";
  EXPECT_EQ(log_->synchronized, 0);
  session_->gemm(Multiplication{70, 30, 64, 1, 2}.x);
  EXPECT_EQ(log_->lanes_of_runs.back(), 0);
  EXPECT_EQ(log_->synchronized, 1);
}

/// Four threads with submitted runs use all lanes.
TEST_F(OverlappingCalls, ReportFailuresOfSubmittedRunsToTheirOwnThread) {
  log_->page_locked = true;
  std::vector<std::thread> threads;
  std::latch submitted{4}, over{1};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      Multiplication call{40, 30, 64, 1, 2};
      session_->gemm(call.x, {.wait = false});
      submitted.count_down();
      over.wait();  // the number of the thread is not used again
    });
  submitted.wait();
  EXPECT_EQ(std::set(log_->lanes_of_runs.begin(), log_->lanes_of_runs.end()).size(), 4u);
  Multiplication other{50, 30, 64, 1, 2};
  log_->run_failed = true;
  EXPECT_NO_THROW(session_->gemm(other.x));
  EXPECT_FALSE(log_->run_failed) << "it has waited for the run that has failed";
  other.expect_right();
  EXPECT_THROW(session_->synchronize(), std::runtime_error);
  EXPECT_NO_THROW(session_->synchronize());
  over.count_down();
  for (std::thread& thread : threads) thread.join();
  session_->gemm(other.x, {.wait = false});
  log_->run_failed = true;
  EXPECT_THROW(session_->gemm(other.x), std::runtime_error);
  EXPECT_NO_THROW(session_->gemm(other.x));
}

TEST_F(OverlappingCalls, ShareLanesIfThereAreMoreThreads) {
  log_->page_locked = true;
  run_.open();
  std::vector<std::thread> threads;
  std::latch submitted{12};
  for (unsigned t = 0; t < 12; ++t)
    threads.emplace_back([&, t] {
      for (const int64_t rows : {30, 40, 50}) {
        Multiplication call{rows, 30, 64, 1.0 + t, 2, t};
        session_->gemm(call.x, {.wait = false});
        if (rows == 30) submitted.arrive_and_wait();  // every thread has a pending run
        session_->gemm(call.x, {.wait = t % 2 == 0});
        session_->synchronize();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(log_->lanes_of_runs.size(), 12u * 3 * 2);
  EXPECT_EQ(log_->lanes, 4);
}

TEST_F(OverlappingCalls, AreRightDuringChangesOfEverything) {
  run_.open();
  ContextOptions few = small_tiles();
  few.cached_plans = 2;
  session_ = fake_session(log_, few);
  const std::vector<double> kept(100, 1.0);
  std::atomic<bool> over = false;
  std::thread changes{[&] {
    for (int i = 0; !over; ++i) {
      session_->set_override(i % 2 ? "tile=16" : "tile=32");
      session_->set_devices(i % 3 ? std::vector<int>{0, 1} : std::vector<int>{1});
      session_->keep(kept.data(), 10, 10, 10, sizeof(double));
      if (i % 4 == 0) session_->set_plan_cache("");
      session_->reserve(1000);
      session_->release(kept.data());
    }
  }};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (unsigned i = 0; i < 20; ++i) {
        Multiplication call{20 + 10 * ((i + t) % 4), 30, 40, 1.0 + t, 2, 100 * t + i};
        session_->gemm(call.x);
        call.expect_right();
      }
    });
  for (std::thread& thread : threads) thread.join();
  over = true;
  changes.join();
}

}  // namespace
}  // namespace tilerail::api
