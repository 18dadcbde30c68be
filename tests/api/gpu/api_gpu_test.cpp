#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <thread>

#include "api/cuda/matrix_access.hpp"
#include "api/cuda/pointers.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "tests/api/gpu/api_case.hpp"
#include "tests/api/gpu/api_fixture.hpp"
#include "tests/cuda/gpu/gemm_case.hpp"
#include "tests/support/test_seed.hpp"
#include "tilerail/tilerail.h"

namespace tilerail {
namespace {

using test::ApiCase;
using test::ApiOnGpus;
using test::MemoryKind;
using test::random_problem;
using test::square;
using test::steps;
using test::tile;

using Api = ApiOnGpus;

TEST_F(Api, RandomCallsAreRightInAllMemoriesWithAllTypesOnAllNumbersOfGpus) {
  std::vector<Context> contexts;
  for (const char* override : {"caching=off", "order=eta-all", "order=eta"}) {
    ContextOptions options = in_tiles();
    options.overrides.emplace_back(override);
    contexts.emplace_back(options);
  }
  ContextOptions assumed = in_tiles();
  assumed.topology.clear();
  contexts.emplace_back(assumed);
  contexts[1].set_pageable(Pageable::staged);
  std::mt19937_64 random{test::test_seed()};
  for (int i = 0; i < 250; ++i) {
    const uint64_t seed = random();
    std::mt19937_64 own{seed};
    const auto pick = [&](int low, int high) {
      return std::uniform_int_distribution<int>{low, high}(own);
    };
    const auto where = [&] {
      return ApiCase::Where{
          test::memory_kinds[pick(0, std::size(test::memory_kinds) - 1)],
          pick(0, gpus_ - 1)};
    };
    const GemmProblem problem = random_problem(own, 500, 0);
    const auto a = where(), b = where(), c = where();
    ApiCase one{problem, a, b, c, own()};
    Context& context = contexts[size_t(pick(0, int(contexts.size()) - 1))];
    std::vector<int> devices(static_cast<size_t>(gpus_));
    for (int d = 0; d < gpus_; ++d) devices[size_t(d)] = d;
    std::shuffle(devices.begin(), devices.end(), own);
    devices.resize(size_t(pick(1, gpus_)));
    context.set_devices(devices);
    const std::string what = one.describe() + ", " + std::to_string(devices.size()) +
                             " GPUs, " + context.policy() + " on " +
                             context.topology_name() + ", seed " + std::to_string(seed);
    ASSERT_NO_THROW(one.call(context)) << what;
    ASSERT_EQ(one.mismatch(steps(problem)), "") << what;
  }
}

/// A copy on the host would give correct results, but slowly.
TEST_F(Api, WholeMatricesInAnyMemoryAreUsedInPlace) {
  for (const MemoryKind kind : test::memory_kinds) {
    ApiCase one{square(200), {kind, 0}, {kind, 0}, {kind, 0}, 13};
    api::Matrices matrices;
    for (size_t i = 0; i < 3; ++i) {
      const test::PlacedMatrix& placed =
          *std::array{one.a.get(), one.b.get(), one.c.get()}[i];
      matrices[i] = {placed.data<void>(), 200, 200, 200, 8, true, i == 2};
      if (const int device = cuda::device_of(matrices[i].data); device >= 0)
        matrices[i].location = device;
    }
    for (const Pageable pageable : {Pageable::registered, Pageable::staged}) {
      const cuda::MatrixAccess access{matrices, std::array{0}, pageable};
      for (size_t i = 0; i < 3; ++i)
        EXPECT_EQ(access.pointers()[i], matrices[i].data) << test::name_of(kind);
    }
  }
}

TEST_F(Api, AnAutomaticDescriptionHasTheDevicesOfTheMachine) {
  unsetenv("TILERAIL_TOPOLOGY");
  Context context;
  EXPECT_EQ(context.topology_name(), "automatic");
  EXPECT_EQ(int(context.devices().size()), cuda::device_count());
}

TEST_F(Api, LaterCallsWithAnyScalarsReuseThePlan) {
  Context context{in_tiles()};
  for (const double alpha : {1.0, -2.0, 0.5}) {
    ApiCase one{square(300, alpha, alpha + 1), {}, {}, {}, 3};
    GemmTimes times;
    one.call(context, nullptr, &times);
    EXPECT_EQ(times.planned, alpha == 1.0);
    EXPECT_EQ(one.mismatch(steps(one.problem)), "");
  }
}

/// Work of some milliseconds, in stream order.
void occupy(cudaStream_t stream, void* scratch, size_t bytes) {
  for (int i = 0; i < 200; ++i)
    cuda::check(cudaMemsetAsync(scratch, i, bytes, stream), "occupying a stream");
}

/// A is written after other work in the caller's stream.
TEST_F(Api, ReadsRunAfterTheCallersStream) {
  Context context{in_tiles()};
  constexpr size_t scratch_bytes = size_t{256} << 20;
  for (const bool blocking : {true, false}) {
    const int device = gpus_ - 1;
    const cuda::DeviceScope scope{device};
    ApiCase one{square(400), {MemoryKind::device, device}, {}, {}, 4};
    one.call(context);  // planned: the next call reads immediately
    std::copy(one.c->given.begin(), one.c->given.end(), one.c->data<std::byte>());
    void *scratch = nullptr, *truth = nullptr;
    cuda::check(cudaMalloc(&scratch, scratch_bytes), "allocating");
    cuda::check(cudaHostAlloc(&truth, one.a->bytes(), 0), "allocating");
    std::copy(one.a->given.begin(), one.a->given.end(), static_cast<std::byte*>(truth));
    cuda::check(cudaMemset(one.a->data<void>(), 0xFF, one.a->bytes()), "poisoning");
    cuda::check(cudaDeviceSynchronize(), "poisoning");
    cudaStream_t stream = nullptr;
    if (!blocking)
      cuda::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking),
                  "creating a stream");
    occupy(stream, scratch, scratch_bytes);
    cuda::check(cudaMemcpyAsync(one.a->data<void>(), truth, one.a->bytes(),
                                cudaMemcpyDefault, stream),
                "filling");
    one.call(context, stream);
    EXPECT_EQ(one.mismatch(steps(one.problem)), "")
        << (blocking ? "the default stream" : "a stream of the caller's");
    cuda::check(cudaDeviceSynchronize(), "cleaning up");
    if (stream) cudaStreamDestroy(stream);
    cudaFree(scratch);
    cudaFreeHost(truth);
  }
}

TEST_F(Api, CallsKeepTheCurrentDeviceEvenAfterErrors) {
  for (int device = 0; device < gpus_; ++device) {
    const cuda::DeviceScope scope{device};
    Context context{in_tiles()};
    const auto current = [] {
      int now = -1;
      cudaGetDevice(&now);
      return now;
    };
    EXPECT_EQ(current(), device);
    ApiCase one{square(200), {MemoryKind::device, 0}, {MemoryKind::pinned, 0}, {}, 5};
    one.call(context);
    EXPECT_EQ(current(), device);
    EXPECT_THROW(gemm(context, 'N', 'N', 5, 5, 5, 1.0, one.a->data<double>(), 4,
                      one.b->data<double>(), 5, 1.0, one.c->data<double>(), 5),
                 ArgumentError);
    EXPECT_THROW(context.reserve(int64_t{1} << 50), InputError);
    EXPECT_EQ(current(), device);
    context.reserve(int64_t{1} << 26);
    EXPECT_EQ(current(), device);
    ApiCase again{square(200), {}, {}, {}, 6};
    again.call(context);
    EXPECT_EQ(again.mismatch(steps(again.problem)), "");
  }
}

TEST_F(Api, ThreadsCanShareAContext) {
  Context context{in_tiles()};
  std::vector<std::unique_ptr<ApiCase>> calls;
  for (unsigned t = 0; t < 4; ++t)
    for (unsigned i = 0; i < 5; ++i)
      calls.push_back(std::make_unique<ApiCase>(
          square(150 + 10 * t, 1 + i, t),
          ApiCase::Where{i % 2 ? MemoryKind::pageable : MemoryKind::pinned, 0},
          ApiCase::Where{}, ApiCase::Where{}, 100 * t + i));
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < 5; ++i) calls[5 * t + i]->call(context);
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& one : calls)
    EXPECT_EQ(one->mismatch(steps(one->problem)), "") << one->describe();
}

/// Both register the same pages for their calls; neither may end a registration that the
/// other still uses.
TEST_F(Api, ContextsCanShareAPageableMatrix) {
  constexpr int64_t n = 600;
  ApiCase one{square(n), {}, {}, {}, 7}, two{square(n), {}, {}, {}, 8};
  std::copy(one.a->given.begin(), one.a->given.end(), two.a->data<std::byte>());
  const auto work = [&](ApiCase& mine, std::string& wrong) {
    try {
      Context context{in_tiles()};
      for (int i = 0; i < 20; ++i) {
        std::copy(mine.c->given.begin(), mine.c->given.end(), mine.c->data<std::byte>());
        gemm(context, 'N', 'N', n, n, n, 1.0, one.a->data<double>(), n,
             mine.b->data<double>(), n, 1.0, mine.c->data<double>(), n);
      }
    } catch (const std::exception& error) {
      wrong = error.what();
    }
  };
  two.a->given = one.a->given;
  std::string first, second;
  std::thread other{[&] { work(two, second); }};
  work(one, first);
  other.join();
  EXPECT_EQ(first, "");
  EXPECT_EQ(second, "");
  EXPECT_EQ(one.mismatch(steps(one.problem)), "");
  EXPECT_EQ(two.mismatch(steps(two.problem)), "");
}

/// The caller registered the first, a middle or the last part of C: a copy must not span
/// its border.
TEST_F(Api, MemoryThatIsRegisteredInPartsIsUsedAsAWhole) {
  Context context{in_tiles()};
  const auto page = uintptr_t(sysconf(_SC_PAGESIZE));
  for (const int part : {0, 1, 2}) {
    ApiCase one{square(500), {}, {}, {}, 9};
    const auto address = reinterpret_cast<uintptr_t>(one.c->data<std::byte>());
    const uintptr_t begin = address / page * page,
                    end = (address + one.c->bytes() + page - 1) / page * page;
    const uintptr_t third = (end - begin) / 3 / page * page;
    const uintptr_t borders[] = {begin, begin + third, begin + 2 * third, end};
    auto* const registered = reinterpret_cast<void*>(borders[part]);
    cuda::check(cudaHostRegister(registered, borders[part + 1] - borders[part],
                                 cudaHostRegisterPortable),
                "registering");
    EXPECT_NO_THROW(one.call(context)) << "part " << part;
    EXPECT_EQ(one.mismatch(steps(one.problem)), "") << "part " << part;
    EXPECT_EQ(cudaHostUnregister(registered), cudaSuccess)
        << "the caller's registration is gone";
  }
}

TEST_F(Api, MatricesCanOverlapInMemoryAndShareAnAllocation) {
  Context context{in_tiles()};
  constexpr int64_t n = 300;
  ApiCase one{square(n), {}, {}, {}, 10};
  // A, B and C contiguous in one allocation, not page-aligned; then A as both factors.
  std::vector<double> memory(3 * n * n + 5);
  double *a = memory.data() + 1, *b = a + n * n, *c = b + n * n;
  std::copy_n(one.a->data<double>(), n * n, a);
  std::copy_n(one.b->data<double>(), n * n, b);
  std::copy_n(one.c->data<double>(), n * n, c);
  gemm(context, 'N', 'N', n, n, n, 1.0, a, n, b, n, 1.0, c, n);
  std::copy_n(c, n * n, one.c->data<double>());
  EXPECT_EQ(one.mismatch(steps(one.problem)), "");
  EXPECT_NO_THROW(gemm(context, 'T', 'N', n, n, n, 1.0, a, n, a, n, 0.0, c, n));
  for (int64_t i = 0; i < n; ++i)
    EXPECT_GT(c[i + i * n], 0) << "the diagonal of A^T A is a sum of squares";
}

TEST_F(Api, RegisteredMemoryStaysRegisteredBetweenCalls) {
  Context context{in_tiles()};
  ApiCase one{square(300), {}, {}, {}, 11};
  context.register_memory(one.a->data<void>(), int64_t(one.a->bytes()));
  one.call(context);
  cudaPointerAttributes attributes{};
  cuda::check(cudaPointerGetAttributes(&attributes, one.a->data<void>()), "asking");
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(one.mismatch(steps(one.problem)), "");
  context.unregister_memory(one.a->data<void>());
  cuda::check(cudaPointerGetAttributes(&attributes, one.a->data<void>()), "asking");
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_THROW(context.unregister_memory(one.a->data<void>()), InputError);
}

TEST_F(Api, HostMemoryOfBothKindsIsUsedInPlaceAndMeasured) {
  Context context{in_tiles()};
  constexpr int64_t n = 500, bytes = n * n * 8;
  for (const HostPages pages : {HostPages::spread, HostPages::plain}) {
    ApiCase one{square(n), {}, {}, {}, 13};
    auto* const c = static_cast<double*>(context.allocate_host(bytes, pages));
    if (pages == HostPages::spread) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(c) % (2 << 20), 0u);
    }
    std::copy_n(one.c->data<double>(), n * n, c);
    gemm(context, 'N', 'N', n, n, n, one.problem.alpha, one.a->data<double>(), n,
         one.b->data<double>(), n, one.problem.beta, c, n);
    std::copy_n(c, n * n, one.c->data<double>());
    EXPECT_EQ(one.mismatch(steps(one.problem)), "");
    EXPECT_GT(context.host_rate(c, bytes), 0);
    context.free_host(c);
    EXPECT_THROW(context.free_host(c), InputError);
  }
}

TEST_F(Api, WorksFromC) {
  tilerail_handle_t handle = nullptr;
  ASSERT_EQ(tilerail_create(&handle, nullptr, nullptr, 0), TILERAIL_SUCCESS)
      << tilerail_last_error(nullptr);
  ApiCase one{square(200),
              {MemoryKind::own_pool, gpus_ - 1},
              {MemoryKind::pageable, 0},
              {MemoryKind::device, 0},
              12};
  EXPECT_EQ(tilerail_set_tile(handle, tile), TILERAIL_SUCCESS);
  EXPECT_EQ(tilerail_dgemm(handle, 'N', 'N', 200, 200, 200, 1, one.a->data<double>(), 200,
                           one.b->data<double>(), 200, 1, one.c->data<double>(), 200),
            TILERAIL_SUCCESS)
      << tilerail_last_error(handle);
  EXPECT_EQ(one.mismatch(steps(one.problem)), "");
  EXPECT_EQ(tilerail_destroy(handle), TILERAIL_SUCCESS);
}

}  // namespace
}  // namespace tilerail
