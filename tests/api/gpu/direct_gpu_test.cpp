// Calls on one GPU without a plan, and pageable matrices that threads copy.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "api/cuda/matrix_access.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "tests/api/gpu/api_case.hpp"
#include "tests/cuda/gpu/gemm_case.hpp"
#include "tests/support/carried_machines.hpp"
#include "tests/support/test_seed.hpp"

namespace tilerail {
namespace {

using test::ApiCase;
using test::MemoryKind;

class DirectCalls : public ::testing::Test {
 protected:
  void SetUp() override {
    gpus_ = cuda::device_count();
    if (gpus_ == 0) GTEST_SKIP() << "no CUDA device here";
  }
  static ContextOptions options(bool shipped) {
    ContextOptions options;
    if (shipped) options.topology = test::shipped_file("hgx-h200");
    return options;
  }
  int gpus_ = 0;
};

TEST_F(DirectCalls, AreRightWithAllTypesInAnyStream) {
  Context assumed{options(false)}, measured{options(true)};
  std::mt19937_64 random{test::test_seed()};
  for (int i = 0; i < 100; ++i) {
    const uint64_t seed = random();
    std::mt19937_64 own{seed};
    const int device = std::uniform_int_distribution<int>{0, std::min(gpus_, 8) - 1}(own);
    const cuda::DeviceScope scope{std::uniform_int_distribution<int>{0, gpus_ - 1}(own)};
    const auto kind = i % 3 ? MemoryKind::device : MemoryKind::default_pool;
    ApiCase one{test::random_problem(own, 400, 0),
                {kind, device},
                {kind, device},
                {kind, device},
                own()};
    cudaStream_t stream = nullptr;
    if (i % 2)
      cuda::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                  "creating a stream");
    ASSERT_NO_THROW(one.call(i % 4 < 2 ? assumed : measured, stream))
        << one.describe() << ", seed " << seed;
    if (stream) cudaStreamDestroy(stream);
    const int64_t steps = 1;
    ASSERT_EQ(one.mismatch(steps), "") << one.describe() << ", seed " << seed;
  }
}

/// A is written after other work.
TEST_F(DirectCalls, RunAfterTheCallersWork) {
  constexpr size_t scratch_bytes = size_t{256} << 20;
  Context context{options(false)};
  for (const bool default_stream : {true, false}) {
    const cuda::DeviceScope scope{0};
    ApiCase one{test::square(400),
                {MemoryKind::device, 0},
                {MemoryKind::device, 0},
                {MemoryKind::device, 0},
                4};
    GemmTimes times;
    one.call(context, nullptr, &times);
    cuda::check(cudaMemcpy(one.c->data<void>(), one.c->given.data(), one.c->bytes(),
                           cudaMemcpyDefault),
                "filling");
    void *scratch = nullptr, *truth = nullptr;
    cuda::check(cudaMalloc(&scratch, scratch_bytes), "allocating");
    cuda::check(cudaHostAlloc(&truth, one.a->bytes(), 0), "allocating");
    std::copy(one.a->given.begin(), one.a->given.end(), static_cast<std::byte*>(truth));
    cuda::check(cudaMemset(one.a->data<void>(), 0xFF, one.a->bytes()), "poisoning");
    cuda::check(cudaDeviceSynchronize(), "poisoning");
    cudaStream_t stream = nullptr;
    if (!default_stream)
      cuda::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                  "creating a stream");
    for (int i = 0; i < 200; ++i)
      cuda::check(cudaMemsetAsync(scratch, i, scratch_bytes, stream),
                  "occupying a stream");
    cuda::check(cudaMemcpyAsync(one.a->data<void>(), truth, one.a->bytes(),
                                cudaMemcpyDefault, stream),
                "filling");
    one.call(context, stream);
    EXPECT_EQ(one.mismatch(1), "")
        << (default_stream ? "the default stream" : "a stream of the caller's");
    cuda::check(cudaDeviceSynchronize(), "cleaning up");
    if (stream) cudaStreamDestroy(stream);
    cudaFree(scratch);
    cudaFreeHost(truth);
  }
}

GemmProblem large(int64_t m, int64_t n, int64_t k, DType dtype, double beta) {
  GemmProblem p;
  p.m = m, p.n = n, p.k = k, p.dtype = dtype, p.alpha = 1.5, p.beta = beta;
  p.ldc = m + 3, p.lda = m + 1;
  return checked(p);
}

/// At least one of the matrices is large enough.
TEST_F(DirectCalls, LargePageableMatricesAreCopiedByThreads) {
  ContextOptions with_tiles = options(true);
  with_tiles.overrides = {"tile=700"};
  with_tiles.topology.clear();
  Context searched{options(false)}, tiled{with_tiles}, without_caching{options(false)};
  without_caching.set_override("caching=off");
  for (Context* context : {&searched, &tiled, &without_caching})
    context->set_pageable(Pageable::copied);
  uint64_t seed = 20;
  for (Context* context : {&searched, &tiled, &without_caching})
    for (const DType dtype : {DType::f64, DType::f32})
      for (const double beta : {0.0, 2.0}) {
        const int64_t longer = dtype == DType::f64 ? 1 : 2;
        ApiCase one{large(3300 * longer, 2600, 90, dtype, beta), {}, {}, {}, ++seed};
        GemmTimes times;
        for (int i = 0; i < 2; ++i) {  // a first call and one with a cached plan
          std::copy(one.c->given.begin(), one.c->given.end(), one.c->data<std::byte>());
          one.call(*context, nullptr, &times);
          EXPECT_EQ(one.mismatch(2), "") << context->policy() << ", beta " << beta;
        }
        cudaPointerAttributes attributes{};
        cuda::check(cudaPointerGetAttributes(&attributes, one.c->data<void>()), "asking");
        EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
      }
}

/// The original of A is poisoned after `keep`, to detect reads of it.
TEST_F(DirectCalls, KeptMatricesAreReadFromTheirCopies) {
  for (const bool shipped : {false, true})
    for (const MemoryKind kind :
         {MemoryKind::pageable, MemoryKind::pinned, MemoryKind::device}) {
      Context context{options(shipped)};
      context.set_override("devices=all");
      ApiCase one{large(700, 500, 300, DType::f64, 1), {kind, 0}, {}, {}, 40};
      context.keep(one.a->data<double>(), one.a->rows, one.a->cols, one.a->ld);
      if (kind == MemoryKind::device)
        cuda::check(cudaMemset(one.a->data<void>(), 0xFF, one.a->bytes()), "poisoning");
      else
        std::fill_n(one.a->data<std::byte>(), one.a->bytes(), std::byte{0xFF});
      ASSERT_NO_THROW(one.call(context)) << one.describe();
      cuda::check(cudaMemcpy(one.a->data<void>(), one.a->given.data(), one.a->bytes(),
                             cudaMemcpyDefault),
                  "filling");
      EXPECT_EQ(one.mismatch(4), "") << one.describe() << ", shipped " << shipped;
      context.release(one.a->data<double>());
    }
}

TEST_F(DirectCalls, LargePageableMatricesAreNotLocked) {
  ApiCase one{large(3500, 2700, 90, DType::f64, 1), {MemoryKind::pinned, 0}, {}, {}, 30};
  api::Matrices matrices{{{one.a->data<void>(), 3500, 90, 3501, 8, true, false, {}},
                          {one.b->data<void>(), 90, 2700, 90, 8, true, false, {}},
                          {one.c->data<void>(), 3500, 2700, 3503, 8, true, true, {}}}};
  const cuda::MatrixAccess access{matrices, std::array{0}, Pageable::copied};
  EXPECT_FALSE(access.copied().a) << "it is page-locked already";
  EXPECT_TRUE(access.copied().b);
  EXPECT_TRUE(access.copied().c);
  matrices[2].cols = 100;
  const cuda::MatrixAccess small{matrices, std::array{0}, Pageable::copied};
  EXPECT_FALSE(small.copied().any()) << "too little to start threads for";
}

}  // namespace
}  // namespace tilerail
