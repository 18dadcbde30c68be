// Asynchronous calls.
#include <gtest/gtest.h>

#include "api/handle.hpp"
#include "tests/api/fake_hardware.hpp"
#include "tests/api/multiplication.hpp"
#include "tests/support/expect_error.hpp"
#include "tilerail/tilerail.h"

namespace tilerail::api {
namespace {

using namespace test;
using Steps = std::vector<std::string>;

class AsynchronousCalls : public ::testing::Test {
 protected:
  GemmTimes call(Multiplication& product, void* stream = nullptr) {
    GemmTimes times;
    session_->gemm(product.x, {.stream = stream, .wait = false, .times = &times});
    return times;
  }
  std::shared_ptr<Log> log_ = std::make_shared<Log>();
  std::unique_ptr<Session> session_ = fake_session(log_, small_tiles());
};

TEST_F(AsynchronousCalls, AcceptPageLockedMatrices) {
  log_->page_locked = true;
  int stream = 0;
  Multiplication product{40, 50, 64, 2, 3};
  const GemmTimes times = call(product, &stream);
  EXPECT_TRUE(times.handed_over);
  EXPECT_EQ(times.run, 0.5);
  EXPECT_EQ(times.issue, 0.25);
  EXPECT_EQ(log_->stream, &stream);
  EXPECT_EQ(log_->steps, (Steps{"access", "submit", "release"}));
  product.expect_right();
}

TEST_F(AsynchronousCalls, WaitIfMemoryMustBeUnlocked) {
  Multiplication product{40, 50, 64, 2, 3};
  EXPECT_FALSE(call(product).handed_over);
  EXPECT_EQ(log_->steps, (Steps{"wait", "access", "run", "finish", "release"}));
  product.expect_right();
}

TEST_F(AsynchronousCalls, IncludeSingleKernels) {
  const auto session = fake_session(log_);
  Multiplication product{40, 50, 64, 2, 3};
  for (const void* data :
       {product.x.a, product.x.b, static_cast<const void*>(product.x.c)})
    log_->on_device[data] = 0;
  GemmTimes times;
  session->gemm(product.x, {.wait = false, .times = &times});
  EXPECT_TRUE(times.handed_over);
  EXPECT_EQ(log_->steps, (Steps{"access", "submit", "release"}));
  product.expect_right();
}

TEST_F(AsynchronousCalls, EndBeforeTheirMemoryIsFreedOrRead) {
  log_->page_locked = true;
  void* const memory = session_->allocate_host(1 << 16, HostPages::spread);
  Multiplication product{40, 50, 64, 2, 3};
  const auto waits = [&](const std::function<void()>& member) {
    call(product);
    const int before = log_->synchronized;
    member();
    return log_->synchronized - before;
  };
  const auto* const a = static_cast<const double*>(product.x.a);
  EXPECT_EQ(waits([&] { session_->synchronize(); }), 1);
  EXPECT_EQ(waits([&] {
              session_->keep(a, product.x.m, product.x.k, product.x.lda, sizeof *a);
            }),
            1);
  EXPECT_EQ(waits([&] { session_->release(a); }), 1);
  EXPECT_EQ(waits([&] { session_->free_host(memory); }), 1);
  EXPECT_EQ(log_->steps.back(), "free");
  EXPECT_EQ(log_->steps[log_->steps.size() - 2], "synchronize") << "not after it is gone";
  EXPECT_EQ(waits([&] { EXPECT_THROW(session_->unregister_memory(memory), InputError); }),
            1);
}

TEST_F(AsynchronousCalls, ReleaseMemoryEvenAfterFailures) {
  log_->page_locked = true;
  void* const memory = session_->allocate_host(1 << 16, HostPages::spread);
  Multiplication product{40, 50, 64, 2, 3};
  call(product);
  log_->run_failed = true;
  EXPECT_THROW(session_->free_host(memory), std::runtime_error);
  EXPECT_EQ(log_->steps.back(), "free");
  const auto* const a = static_cast<const double*>(product.x.a);
  session_->keep(a, product.x.m, product.x.k, product.x.lda, sizeof *a);
  call(product);
  log_->run_failed = true;
  EXPECT_THROW(session_->release(a), std::runtime_error);
  expect_input_error([&] { session_->release(a); }, {"not kept"});
  call(product);
  log_->run_failed = true;
  try {
    session_->unregister_memory(memory);
    FAIL() << "no error";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "a submitted run failed")
        << "the address was never registered, either";
  }
}

TEST_F(AsynchronousCalls, EndBeforeSynchronousCalls) {
  log_->page_locked = true;
  Multiplication product{40, 50, 64, 2, 3};
  call(product);
  const int before = log_->synchronized;
  session_->gemm(product.x);
  EXPECT_EQ(log_->synchronized, before + 1);
}

TEST_F(AsynchronousCalls, EndBeforeTheSession) {
  log_->page_locked = true;
  Multiplication product{40, 50, 64, 2, 3};
  call(product);
  session_.reset();
  EXPECT_EQ(log_->steps.back(), "synchronize");
}

TEST_F(AsynchronousCalls, AreRefusedInACapturedStream) {
  log_->page_locked = true;
  int stream = 0;
  log_->captured = &stream;
  Multiplication product{40, 50, 64, 2, 3};
  expect_input_error([&] { call(product, &stream); }, {"captured"});
  EXPECT_EQ(log_->binds, 0) << "nothing was allocated for it";
  session_->gemm(product.x, {.stream = &stream});
  product.expect_right();
}

TEST(CInterface, SubmitsAsynchronousCallsAndSynchronizes) {
  const auto log = std::make_shared<Log>();
  log->page_locked = true;
  tilerail_context handle{Context{fake_session(log, small_tiles())}};
  Multiplication product{40, 50, 64, 2, 3};
  const auto& x = product.x;
  EXPECT_EQ(tilerail_gemm_async(&handle, TILERAIL_F64, 'N', 'T', x.m, x.n, x.k, 2, x.a,
                                x.lda, x.b, x.ldb, 3, x.c, x.ldc, nullptr),
            TILERAIL_SUCCESS);
  EXPECT_EQ(log->steps, (Steps{"access", "submit", "release"}));
  EXPECT_EQ(log->synchronized, 0);
  EXPECT_EQ(tilerail_synchronize(&handle), TILERAIL_SUCCESS);
  EXPECT_EQ(log->synchronized, 1);
  product.expect_right();
  EXPECT_EQ(tilerail_gemm_async(&handle, TILERAIL_F64, 'N', 'N', 2, 2, 2, 1, x.a, 2, x.b,
                                1, 0, x.c, 2, nullptr),
            -10);
  EXPECT_EQ(tilerail_synchronize(nullptr), TILERAIL_INVALID_HANDLE);
}

}  // namespace
}  // namespace tilerail::api
