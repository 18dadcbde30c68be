// Memory that is freed, registered again or kept while calls use it.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "api/cuda/pointers.hpp"
#include "backends/cuda/run/cuda_check.hpp"
#include "model/base/threads.hpp"
#include "tests/api/gpu/api_case.hpp"
#include "tests/api/gpu/api_fixture.hpp"
#include "tests/cuda/gpu/busy_stream.hpp"
#include "tests/cuda/gpu/gemm_case.hpp"
#include "tilerail/tilerail.hpp"

namespace tilerail {
namespace {

using test::ApiCase;
using test::BusyStream;
using test::MemoryKind;
using test::square;

constexpr int64_t n = 400;

class Lifetimes : public test::ApiOnGpus {
 protected:
  static constexpr int64_t steps = n / test::tile + 2;
};

/// Anonymous pages at a fixed address.
class Pages {
 public:
  explicit Pages(size_t bytes) : bytes_{bytes} {
    data_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data_ == MAP_FAILED) throw std::bad_alloc{};
  }
  ~Pages() { munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  /// Maps other pages at the same address.
  void replace() {
    mmap(data_, bytes_, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  }
  double* numbers() const { return static_cast<double*>(data_); }
  size_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  size_t bytes_;
};

/// The run of one context waits behind other work when another context frees the memory
/// of C.
TEST_F(Lifetimes, HostMemoryIsFreedAfterTheRunsOfOtherContextsThatUseIt) {
  struct How {
    HostPages pages;
    bool destroyed, registered_by_user;
  };
  for (const How how_freed :
       {How{HostPages::spread, false, false}, How{HostPages::spread, true, false},
        How{HostPages::plain, false, true}, How{HostPages::plain, true, true}}) {
    const auto [pages, destroyed, registered_by_user] = how_freed;
    SCOPED_TRACE(::testing::Message()
                 << (destroyed ? "destroyed" : "freed") << registered_by_user);
    const cuda::DeviceScope scope{0};
    auto owner = std::make_unique<Context>(in_tiles());
    Context user{in_tiles()};
    ApiCase one{square(n), {MemoryKind::device, 0}, {MemoryKind::device, 0}, {}, 4};
    auto* const c = static_cast<double*>(owner->allocate_host(n * n * 8, pages));
    const auto call = [&](cudaStream_t stream, bool wait) {
      std::copy_n(one.c->data<double>(), n * n, c);
      GemmTimes times;
      GemmOptions how;
      how.stream = stream, how.wait = wait, how.times = &times;
      gemm(user, 'N', 'N', n, n, n, 1.0, one.a->data<double>(), n, one.b->data<double>(),
           n, 1.0, c, n, how);
      return times;
    };
    if (registered_by_user) user.register_memory(c, n * n * 8);
    call(nullptr, true);  // planned
    BusyStream stream;
    stream.occupy();
    EXPECT_TRUE(call(stream, false).handed_over);
    EXPECT_TRUE(stream.busy());
    stream.release_soon();
    destroyed ? owner.reset() : owner->free_host(c);
    EXPECT_FALSE(stream.busy()) << "the run still used the memory";
    EXPECT_NO_THROW(user.synchronize());
  }
}

/// Runs on the same matrices become a graph, which must detect other memory at the same
/// address.
TEST_F(Lifetimes, MemoryThatIsRegisteredAnewIsNotTakenForTheOldOne) {
  const cuda::DeviceScope scope{0};
  for (const bool by_context : {false, true}) {
    SCOPED_TRACE(::testing::Message()
                 << (by_context ? "by the context" : "by the caller"));
    Context context{in_tiles()};
    Pages pages{size_t{2} << 20};
    std::optional<uint64_t> before;
    for (uint64_t round = 0; round < 4; ++round) {
      pages.replace();
      ApiCase one{square(n), {}, {MemoryKind::device, 0}, {MemoryKind::device, 0}, round};
      std::copy_n(one.a->data<double>(), n * n, pages.numbers());
      if (by_context)
        context.register_memory(pages.numbers(), int64_t(pages.bytes()));
      else
        cuda::check(
            cudaHostRegister(pages.numbers(), pages.bytes(), cudaHostRegisterPortable),
            "registering");
      const auto id = cuda::allocation_of(pages.numbers());
      EXPECT_TRUE(by_context || !id || id != before)
          << "two registrations have one number";
      before = id;
      for (int run = 0; run < 3; ++run) {
        cuda::check(cudaMemcpy(one.c->data<void>(), one.c->given.data(), one.c->bytes(),
                               cudaMemcpyDefault),
                    "filling");
        gemm(context, 'N', 'N', n, n, n, 1.0, pages.numbers(), n, one.b->data<double>(),
             n, 1.0, one.c->data<double>(), n);
        EXPECT_EQ(one.mismatch(steps), "") << "round " << round << ", run " << run;
      }
      if (by_context)
        context.unregister_memory(pages.numbers());
      else
        cuda::check(cudaHostUnregister(pages.numbers()), "unregistering");
    }
  }
}

/// The original is poisoned after `keep`, to detect reads of it.
TEST_F(Lifetimes, AKeptInputOnTheGpuOfCIsReadFromTheCopyOfEachGpu) {
  if (gpus_ < 2) GTEST_SKIP() << "one CUDA device here";
  for (const MemoryKind kind_of_b : {MemoryKind::pinned, MemoryKind::device}) {
    Context context{in_tiles()};
    ApiCase one{
        square(n), {MemoryKind::device, 0}, {kind_of_b, 1}, {MemoryKind::device, 0}, 6};
    context.keep(one.a->data<double>(), n, n, n);
    cuda::check(cudaMemset(one.a->data<void>(), 0xFF, one.a->bytes()), "poisoning");
    one.call(context);
    cuda::check(cudaMemcpy(one.a->data<void>(), one.a->given.data(), one.a->bytes(),
                           cudaMemcpyDefault),
                "filling");
    EXPECT_EQ(one.mismatch(steps), "") << test::name_of(kind_of_b);
  }
}

/// 2-D copies do not support a pitch of 2^31 bytes or more.
TEST_F(Lifetimes, MatricesWithColumnsOf2GiBAreKept) {
  constexpr int64_t rows = (int64_t{1} << 28) + 8, few = 8;  // more than 2 GiB
  for (const bool all_rows : {false, true}) {
    Context context{in_tiles()};
    const Pages pages{size_t(2 * rows) * 8};
    double* const last = pages.numbers() + (all_rows ? rows - few : 0);
    for (int64_t i = 0; i < few; ++i) last[i] = double(i), last[i + rows] = 10.0 * i;
    ASSERT_NO_THROW(context.keep(pages.numbers(), all_rows ? rows : few, 2, rows));
    for (int64_t i = 0; i < few; ++i)
      last[i] = last[i + rows] = -1;  // must not be read now
    const std::vector<double> b{1, 2};
    std::vector<double> c(few), expected;
    gemm(context, 'N', 'N', few, 1, 2, 1.0, last, rows, b.data(), 2, 0.0, c.data(), few);
    for (int64_t i = 0; i < few; ++i) expected.push_back(21.0 * double(i));
    EXPECT_EQ(c, expected);
    context.release(pages.numbers());
  }
}

TEST_F(Lifetimes, WithoutMoreThreadsHostMemoryIsAllocatedAndACallIsRefused) {
  Context context{in_tiles()};
  ApiCase one{square(n), {}, {}, {}, 8};
  {
    const ThreadLimit none{0};
    void* memory = nullptr;
    EXPECT_NO_THROW(memory = context.allocate_host(int64_t{64} << 20));
    context.free_host(memory);
    EXPECT_THROW(one.call(context), ThreadShortage);
  }
  one.call(context);
  EXPECT_EQ(one.mismatch(steps), "");
}

/// One filler and one emptier suffice for matrices that threads copy.
TEST_F(Lifetimes, PageableMatricesAreCopiedByAsManyThreadsAsThereAre) {
  Context context{in_tiles()};
  context.set_pageable(Pageable::copied);
  context.set_override("tile=700");
  GemmProblem p;
  p.m = 3300, p.n = 2600, p.k = 90;
  ApiCase one{checked(p), {}, {}, {}, 9};
  one.call(context);  // opens devices and their issuers
  const std::vector<std::byte>& given = one.c->given;
  for (const int threads : {0, 1, 2, 3}) {
    const ThreadLimit few{threads};
    std::copy(given.begin(), given.end(), one.c->data<std::byte>());
    if (threads < 2) {
      EXPECT_THROW(one.call(context), ThreadShortage);
      continue;
    }
    one.call(context);
    EXPECT_EQ(one.mismatch(2), "") << threads << " threads";
  }
}

}  // namespace
}  // namespace tilerail
