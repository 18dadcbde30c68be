// Inputs that the caller keeps on GPUs between calls.
#include <gtest/gtest.h>

#include "model/machine/layout_text.hpp"
#include "tests/api/fake_hardware.hpp"
#include "tests/api/multiplication.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/plan_facts.hpp"

namespace tilerail::api {
namespace {

using namespace test;

class KeptMatrices : public ::testing::Test {
 protected:
  void keep_a(const Multiplication& call) {
    session_->keep(call.x.a, call.x.m, call.x.k, call.x.lda, sizeof(double));
  }
  std::string place_of_a() const {
    return layout_text(log_->plan->gemm().place_a, FakeHardware::machine());
  }
  std::string place_of_b() const {
    return layout_text(log_->plan->gemm().place_b, FakeHardware::machine());
  }

  bool is_copied(TensorId matrix) const {
    const Plan& plan = *log_->plan;
    return std::ranges::any_of(plan.ops, [&](const Op& op) {
      return op.kind == OpKind::copy &&
             testing::is_of(plan.buffer(plan.operands_of(op)[0].buffer), matrix);
    });
  }

  std::shared_ptr<Log> log_ = std::make_shared<Log>();
  std::unique_ptr<Session> session_ = fake_session(log_, small_tiles());
};

TEST_F(KeptMatrices, AreReadFromTheCopyOfEachGpu) {
  Multiplication call{40, 50, 64, 1.5, 2};
  keep_a(call);
  EXPECT_EQ(log_->copies, 2);
  std::vector<double> original = call.a;
  std::ranges::fill(call.a,
                    std::numeric_limits<double>::quiet_NaN());  // must not be read now
  session_->gemm(call.x);
  EXPECT_EQ(place_of_a(), "g*");
  EXPECT_EQ(place_of_b(), "host");
  call.a = original;
  call.expect_right();
}

TEST_F(KeptMatrices, ServeAnyPartAsEitherInput) {
  Multiplication whole{70, 50, 64, 1, 0}, part{33, 40, 20, 1, 0};
  session_->keep(whole.x.a, whole.x.m, whole.x.k, whole.x.lda, sizeof(double));
  part.x.a = whole.a.data() + 5 + 7 * whole.x.lda, part.x.lda = whole.x.lda;
  part.x.b = whole.a.data() + 20 + 40 * whole.x.lda,
  part.x.ldb = whole.x.lda;  // transposed: 40 x 20
  session_->gemm(part.x);
  EXPECT_EQ(place_of_a(), "g*");
  EXPECT_EQ(place_of_b(), "g*");
  for (int64_t j = 0; j < part.x.n; ++j)
    for (int64_t i = 0; i < part.x.m; ++i) {
      double sum = 0;
      for (int64_t p = 0; p < part.x.k; ++p)
        sum += static_cast<const double*>(part.x.a)[i + p * part.x.lda] *
               static_cast<const double*>(part.x.b)[j + p * part.x.ldb];
      ASSERT_NEAR(part.c[size_t(i + j * part.x.ldc)], sum, 1e-12) << i << ", " << j;
    }
}

TEST_F(KeptMatrices, AreNotUsedForMatricesBeyondTheirBounds) {
  Multiplication call{40, 50, 64, 1, 1};
  session_->keep(call.x.a, call.x.m - 1, call.x.k, call.x.lda, sizeof(double));
  session_->gemm(call.x);
  EXPECT_EQ(place_of_a(), "host");
  session_->keep(call.x.a, call.x.m, call.x.k - 1, call.x.lda, sizeof(double));
  session_->gemm(call.x);
  EXPECT_EQ(place_of_a(), "host");
  call.x.lda = 20, call.x.m = 20;  // the same address with another number of columns
  session_->gemm(call.x);
  EXPECT_EQ(place_of_a(), "host");
}

TEST_F(KeptMatrices, AreUsedUntilReleaseAndCopiedAgainByALaterKeep) {
  Multiplication call{40, 50, 64, 1, 0};
  keep_a(call);
  for (double& value : call.a) value = -value;
  keep_a(call);
  EXPECT_EQ(log_->copies, 4);
  session_->gemm(call.x);
  call.expect_right();
  session_->release(call.x.a);
  for (double& value : call.a) value = 2 * value;
  session_->gemm(call.x);
  EXPECT_EQ(place_of_a(), "host");
  call.expect_right();
  expect_input_error([&] { session_->release(call.x.a); }, {"to release", "not kept"});
}

TEST_F(KeptMatrices, AreReadAtHomeByDevicesThatHaveNoCopy) {
  Multiplication call{40, 50, 64, 1, 0};
  session_->set_devices({0});
  keep_a(call);
  EXPECT_EQ(log_->copies, 1);
  session_->set_devices({0, 1});
  session_->gemm(call.x);
  EXPECT_EQ(place_of_a(), "host");
  session_->set_devices({0});
  session_->gemm(call.x);
  EXPECT_EQ(place_of_a(), "g*");
  call.expect_right();
}

TEST_F(KeptMatrices, AreNotWritten) {
  Multiplication call{40, 50, 64, 1, 0};
  session_->keep(call.x.c, call.x.m, call.x.n, call.x.ldc, sizeof(double));
  expect_input_error([&] { session_->gemm(call.x); }, {"matrix C", "kept", "released"});
  session_->release(call.x.c);
  session_->gemm(call.x);
  call.expect_right();
}

TEST_F(KeptMatrices, AreNotKeptInPart) {
  Multiplication call{40, 50, 64, 1, 0};
  log_->room[MemoryId{2}] = 1000;
  expect_input_error([&] { keep_a(call); }, {"short of memory"});
  log_->room.clear();
  expect_input_error([&] { session_->release(call.x.a); }, {"not kept"});
  session_->gemm(call.x);
  EXPECT_EQ(place_of_a(), "host");
}

TEST_F(KeptMatrices, AreReadAtHomeIfAllMatricesLieOnOneGpu) {
  Multiplication call{40, 50, 64, 1, 0};
  for (const void* data : {call.x.a, call.x.b, static_cast<const void*>(call.x.c)})
    log_->on_device[data] = 0;
  session_ = fake_session(log_);
  keep_a(call);
  session_->gemm(call.x);
  EXPECT_EQ(log_->steps, std::vector<std::string>{"single"});
  EXPECT_EQ(place_of_a(), "gpu0");
  call.expect_right();
}

/// The copies of other GPUs are poisoned.
TEST_F(KeptMatrices, AreReadFromTheCopyOfTheComputingGpu) {
  session_ = fake_session(log_);
  for (const int device : {0, 1}) {
    Multiplication call{40, 50, 64, 1, 0};
    for (const void* data : {call.x.b, static_cast<const void*>(call.x.c)})
      log_->on_device[data] = device;
    keep_a(call);
    for (const auto& [data, at] : std::map{log_->on_device})
      if (at == 1 - device && data != call.x.b && data != call.x.c)
        std::fill_n(static_cast<double*>(const_cast<void*>(data)), 40,
                    std::numeric_limits<double>::quiet_NaN());
    session_->gemm(call.x);
    EXPECT_EQ(log_->plan->devices, std::vector<MemoryId>{MemoryId{1 + device}});
    EXPECT_EQ(log_->steps, std::vector<std::string>{"single"})
        << "B, C and a copy of A are there";
    EXPECT_EQ(place_of_a(), device == 0 ? "gpu0" : "gpu1");
    call.expect_right();
    session_->release(call.x.a);
    log_->on_device.clear();
  }
}

/// Both GPUs have copies of A, whose original is on C's GPU. B is elsewhere, so that both
/// compute.
TEST_F(KeptMatrices, AreReadFromTheCopyOfEachGpuAlsoIfTheOriginalIsOnTheGpuOfC) {
  for (const bool b_on_gpu : {false, true})
    for (const bool a_is_kept : {true, false}) {
      SCOPED_TRACE(::testing::Message() << b_on_gpu << a_is_kept);
      session_ = fake_session(log_, small_tiles());
      Multiplication call{40, 50, 64, 1, 0.5};
      log_->on_device = {{call.x.c, 0}, {a_is_kept ? call.x.a : call.x.b, 0}};
      if (b_on_gpu) log_->on_device[a_is_kept ? call.x.b : call.x.a] = 1;
      if (a_is_kept)
        keep_a(call);
      else
        session_->keep(call.x.b, call.x.n, call.x.k, call.x.ldb, sizeof(double));
      std::vector<double>& original = a_is_kept ? call.a : call.b;
      const std::vector<double> before = original;
      std::ranges::fill(
          original, std::numeric_limits<double>::quiet_NaN());  // must not be read now
      session_->gemm(call.x);
      EXPECT_EQ(a_is_kept ? place_of_a() : place_of_b(), "g*");
      EXPECT_FALSE(is_copied(a_is_kept ? tensor_a : tensor_b)) << "it crosses a link";
      original = before;
      call.expect_right();
    }
}

/// One GPU computes: it has both matrices, or reads its own copy.
TEST_F(KeptMatrices, AreReadOnTheOnlyGpuIfTheOriginalIsOnTheGpuOfC) {
  Multiplication call{40, 50, 64, 1, 0};
  session_->set_devices({0});
  log_->on_device = {{call.x.c, 0}, {call.x.a, 0}};
  keep_a(call);
  session_->gemm(call.x);
  EXPECT_FALSE(is_copied(tensor_a));
  call.expect_right();
}

/// A block of a kept matrix is changed and kept again: the copies of the whole matrix are
/// outdated.
TEST_F(KeptMatrices, AreDroppedIfAnyPartIsKeptAgain) {
  Multiplication call{40, 50, 64, 1, 0};
  keep_a(call);
  call.a[5 + 3 * size_t(call.x.lda)] += 100;
  session_->keep(call.a.data() + 3 * call.x.lda, call.x.m, 2, call.x.lda, sizeof(double));
  session_->gemm(call.x);
  EXPECT_EQ(place_of_a(), "host");
  call.expect_right();
}

TEST_F(KeptMatrices, LeaveNeighbouringRowsToC) {
  Multiplication call{40, 50, 64, 1, 0};
  std::vector<double> panels(100 * 64, 1);  // rows 0 to 39 are kept, 45 to 84 are C
  session_->keep(panels.data(), 40, 64, 100, sizeof(double));
  call.x.c = panels.data() + 45, call.x.ldc = 100;
  EXPECT_NO_THROW(session_->gemm(call.x));
  call.x.c = panels.data() + 39;
  expect_input_error([&] { session_->gemm(call.x); }, {"matrix C", "kept"});
}

TEST_F(KeptMatrices, RequireAValidShape) {
  const std::vector<double> data(100);
  const auto keep = [&](const void* at, int64_t rows, int64_t cols, int64_t ld) {
    return [=, this] { session_->keep(at, rows, cols, ld, sizeof(double)); };
  };
  expect_input_error(keep(nullptr, 10, 10, 10), {"to keep", "null"});
  expect_input_error(keep(data.data(), 10, 10, 9), {"to keep", "leading dimension 9"});
  expect_input_error(keep(data.data(), 0, 10, 10), {"to keep", "0 x 10"});
  const int64_t large = int64_t{1} << 40;
  expect_input_error(keep(data.data(), large, large, large),
                     {"to keep", "columns", "2^60 bytes"});
}

}  // namespace
}  // namespace tilerail::api
