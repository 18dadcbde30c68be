#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "api/handle.hpp"
#include "tests/api/fake_hardware.hpp"
#include "tilerail/tilerail.h"

extern "C" tilerail_status_t multiply_in_c(tilerail_handle_t handle, int64_t n,
                                           const double* a, const double* b, double* c);

namespace tilerail::api {
namespace {

struct Handle {
  std::shared_ptr<test::Log> log = std::make_shared<test::Log>();
  tilerail_context context{Context{test::fake_session(log)}};
  tilerail_handle_t get() { return &context; }
};

TEST(CInterface, MultipliesFromC) {
  Handle handle;
  // A = [1 3; 2 4] and B = I: A B + A^T B = [2 5; 5 8].
  const std::vector<double> a{1, 2, 3, 4}, b{1, 0, 0, 1};
  std::vector<double> c(4);
  ASSERT_EQ(multiply_in_c(handle.get(), 2, a.data(), b.data(), c.data()),
            TILERAIL_SUCCESS)
      << tilerail_last_error(handle.get());
  EXPECT_EQ(c, (std::vector<double>{2, 5, 5, 8}));
}

TEST(CInterface, ABadArgumentIsMinusItsPositionInBlas) {
  Handle handle;
  double x[4] = {};
  const auto call = [&](char ta, int64_t m, int64_t lda, double* c, int64_t ldc) {
    return tilerail_dgemm(handle.get(), ta, 'N', m, 2, 2, 1, x, lda, x, 2, 1, c, ldc);
  };
  EXPECT_EQ(call('?', 2, 2, x, 2), -1);
  EXPECT_EQ(call('N', -2, 2, x, 2), -3);
  EXPECT_EQ(call('N', 2, 1, x, 2), -8);
  EXPECT_EQ(call('N', 2, 2, nullptr, 2), -12);
  EXPECT_EQ(call('N', 2, 2, x, 1), -13);
  EXPECT_EQ(std::string{tilerail_last_error(handle.get())},
            "argument 13 (ldc) = 1: expected at least 2, the stored rows");
  EXPECT_STREQ(tilerail_status_name(-13), "TILERAIL_INVALID_ARGUMENT");
}

TEST(CInterface, EveryRoutineReportsTheSamePositions) {
  Handle handle;
  float x[4] = {};
  EXPECT_EQ(tilerail_sgemm(handle.get(), 'N', 'N', 2, 2, 2, 1, x, 2, x, 1, 0, x, 2), -10);
  EXPECT_EQ(tilerail_hgemm(handle.get(), 'N', 'N', 2, 2, 2, 1, x, 2, x, 1, 0, x, 2), -10);
  EXPECT_EQ(tilerail_bfgemm(handle.get(), 'N', 'N', 2, 2, 2, 1, x, 2, x, 1, 0, x, 2),
            -10);
  EXPECT_EQ(tilerail_gemm_ex(handle.get(), TILERAIL_TF32, 'N', 'N', 2, 2, 2, 1, x, 2, x,
                             1, 0, x, 2, nullptr),
            -10);
}

TEST(CInterface, AShortageIsNotAnInvalidValue) {
  double x[4] = {1, 2, 3, 4};
  Handle full;
  const Topology machine = tilerail::test::shipped("two-gpu");
  for (const MemoryId gpu : machine.gpus()) full.log->room[gpu] = 1;
  EXPECT_EQ(tilerail_dgemm(full.get(), 'N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, x, 2),
            TILERAIL_OUT_OF_MEMORY);
  EXPECT_THAT(tilerail_last_error(full.get()), ::testing::HasSubstr("free for tiles"));
}

TEST(CInterface, NoExceptionLeavesTheInterface) {
  Handle handle;
  double x[4] = {1, 2, 3, 4};
  handle.log->failures = 1;
  EXPECT_EQ(tilerail_dgemm(handle.get(), 'N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, x, 2),
            TILERAIL_EXECUTION_FAILED);
  EXPECT_THAT(tilerail_last_error(handle.get()), ::testing::HasSubstr("made to fail"));
  EXPECT_EQ(tilerail_set_policy(handle.get(), nullptr), TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_set_policy(handle.get(), "none such"), TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_set_override(handle.get(), "tile=zero"), TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_set_tile(handle.get(), -1), TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_set_devices(handle.get(), nullptr, 2), TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_reserve(handle.get(), -1), TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_register(handle.get(), nullptr, 1), TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_unregister(handle.get(), x), TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_keep(handle.get(), TILERAIL_F64, nullptr, 1, 1, 1),
            TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_keep(handle.get(), TILERAIL_DTYPE_MAX, x, 1, 1, 1),
            TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_keep(handle.get(), TILERAIL_F64, x, 1, 1, 1), TILERAIL_SUCCESS);
  EXPECT_EQ(tilerail_release(handle.get(), x), TILERAIL_SUCCESS);
  EXPECT_EQ(tilerail_release(handle.get(), x), TILERAIL_INVALID_VALUE);
  void* memory = x;
  EXPECT_EQ(tilerail_alloc_host(handle.get(), &memory, 0, TILERAIL_PAGES_SPREAD),
            TILERAIL_INVALID_VALUE);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(tilerail_alloc_host(handle.get(), nullptr, 1, TILERAIL_PAGES_SPREAD),
            TILERAIL_INVALID_VALUE);
  EXPECT_EQ(
      tilerail_alloc_host(handle.get(), &memory, 1, static_cast<tilerail_pages_t>(7)),
      TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_free_host(handle.get(), x), TILERAIL_INVALID_VALUE);
  double rate = 0;
  EXPECT_EQ(tilerail_host_rate(handle.get(), nullptr, 1, &rate), TILERAIL_INVALID_VALUE);
  EXPECT_EQ(tilerail_host_rate(handle.get(), x, 1, nullptr), TILERAIL_INVALID_VALUE);
  const int absent = 9;
  EXPECT_EQ(tilerail_set_devices(handle.get(), &absent, 1), TILERAIL_NO_HARDWARE);
}

TEST(CInterface, HostMemoryOfEitherKindIsAllocatedMeasuredAndFreed) {
  Handle handle;
  for (const tilerail_pages_t pages : {TILERAIL_PAGES_SPREAD, TILERAIL_PAGES_PLAIN}) {
    void* memory = nullptr;
    ASSERT_EQ(tilerail_alloc_host(handle.get(), &memory, 1000, pages), TILERAIL_SUCCESS);
    std::memset(memory, 1, 1000);
    EXPECT_EQ(handle.log->host_pages,
              pages == TILERAIL_PAGES_PLAIN ? HostPages::plain : HostPages::spread);
    double rate = 0;
    EXPECT_EQ(tilerail_host_rate(handle.get(), memory, 1000, &rate), TILERAIL_SUCCESS);
    EXPECT_EQ(rate, 2 * 1000);  // both devices
    EXPECT_EQ(tilerail_free_host(handle.get(), memory), TILERAIL_SUCCESS);
    EXPECT_EQ(tilerail_free_host(handle.get(), memory), TILERAIL_INVALID_VALUE);
  }
}

TEST(CInterface, SettersReachTheContext) {
  Handle handle;
  const int second = 1;
  EXPECT_EQ(tilerail_set_override(handle.get(), "order=fifo"), TILERAIL_SUCCESS);
  EXPECT_EQ(tilerail_set_policy(handle.get(), "tilerail"),
            TILERAIL_SUCCESS);  // without the override
  EXPECT_EQ(tilerail_set_policy(handle.get(), "gemmex"), TILERAIL_INVALID_VALUE)
      << "libraries are emulated in studies";
  EXPECT_EQ(tilerail_set_tile(handle.get(), 64), TILERAIL_SUCCESS);
  EXPECT_EQ(tilerail_set_override(handle.get(), "batch=chain(chunks=2)"),
            TILERAIL_SUCCESS);
  EXPECT_EQ(tilerail_set_devices(handle.get(), &second, 1), TILERAIL_SUCCESS);
  EXPECT_EQ(tilerail_set_pageable(handle.get(), TILERAIL_PAGEABLE_STAGED),
            TILERAIL_SUCCESS);
  EXPECT_EQ(tilerail_set_pageable(handle.get(), TILERAIL_PAGEABLE_COPIED),
            TILERAIL_SUCCESS);
  EXPECT_EQ(tilerail_reserve(handle.get(), 1000), TILERAIL_SUCCESS);
  EXPECT_EQ(handle.context.context.policy(), "tilerail+tile=64+batch=chain(chunks=2)");
  EXPECT_EQ(handle.context.context.devices(), std::vector<int>{1});
  EXPECT_EQ(handle.log->reserved.size(), 1u);
}

TEST(CInterface, EveryFunctionRefusesANullHandle) {
  double x[4] = {};
  EXPECT_EQ(tilerail_dgemm(nullptr, 'N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, x, 2),
            TILERAIL_INVALID_HANDLE);
  EXPECT_EQ(tilerail_set_tile(nullptr, 1), TILERAIL_INVALID_HANDLE);
  EXPECT_EQ(tilerail_create(nullptr, nullptr, nullptr, 0), TILERAIL_INVALID_HANDLE);
  EXPECT_EQ(tilerail_destroy(nullptr), TILERAIL_SUCCESS);
}

TEST(CInterface, FailedCreationReturnsANullHandleAndTheError) {
  tilerail_handle_t handle = reinterpret_cast<tilerail_handle_t>(&handle);
  const tilerail_status_t status =
      tilerail_create(&handle, "no-such-machine", nullptr, 0);
  // Without a GPU that is the first error; with one, the machine is.
  EXPECT_TRUE(status == TILERAIL_NO_HARDWARE || status == TILERAIL_INVALID_VALUE)
      << status;
  EXPECT_EQ(handle, nullptr);
  EXPECT_STRNE(tilerail_last_error(nullptr), "");
}

TEST(CInterface, ErrorsAreKeptByThreadAndHandle) {
  Handle one, two;
  EXPECT_EQ(tilerail_set_tile(one.get(), -1), TILERAIL_INVALID_VALUE);
  EXPECT_STRNE(tilerail_last_error(one.get()), "");
  EXPECT_STREQ(tilerail_last_error(two.get()), "");
  std::string elsewhere = "?";
  std::thread{[&] { elsewhere = tilerail_last_error(one.get()); }}.join();
  EXPECT_EQ(elsewhere, "");
}

/// Checked in this thread and in a thread that is not involved in the destruction.
TEST(CInterface, AHandleAtTheAddressOfADestroyedOneHasNoErrorAndNoPlan) {
  alignas(tilerail_context) std::byte place[sizeof(tilerail_context)];
  const auto make = [&] {
    return new (place)
        tilerail_context{Context{test::fake_session(std::make_shared<test::Log>())}};
  };
  tilerail_context* handle = make();
  std::promise<void> failed, replaced;
  std::string there = "?", plan_there = "?";
  std::thread other{[&] {
    double x[4] = {1, 2, 3, 4}, y[4];
    EXPECT_EQ(tilerail_dgemm(handle, 'N', 'N', 2, 2, 2, 1, x, 2, x, 2, 0, y, 2),
              TILERAIL_SUCCESS);
    EXPECT_EQ(tilerail_set_tile(handle, -1), TILERAIL_INVALID_VALUE);
    EXPECT_STRNE(tilerail_last_error(handle), "");
    EXPECT_STRNE(tilerail_plan_origin(handle), "");
    failed.set_value();
    replaced.get_future().wait();
    there = tilerail_last_error(handle), plan_there = tilerail_plan_origin(handle);
  }};
  failed.get_future().wait();
  EXPECT_EQ(tilerail_set_tile(handle, -1), TILERAIL_INVALID_VALUE);
  handle->~tilerail_context();
  handle = make();
  EXPECT_STREQ(tilerail_last_error(handle), "");
  EXPECT_STREQ(tilerail_plan_origin(handle), "");
  replaced.set_value();
  other.join();
  EXPECT_EQ(there, "");
  EXPECT_EQ(plan_there, "");
  handle->~tilerail_context();
}

}  // namespace
}  // namespace tilerail::api
