// Calls of several threads on one context, on GPUs.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "backends/cuda/run/cuda_check.hpp"
#include "tests/api/gpu/api_case.hpp"
#include "tests/api/gpu/api_fixture.hpp"
#include "tests/cuda/gpu/busy_stream.hpp"
#include "tests/cuda/gpu/gemm_case.hpp"
#include "tilerail/tilerail.hpp"

namespace tilerail {
namespace {

using test::ApiCase;
using test::ApiOnGpus;
using test::BusyStream;
using test::MemoryKind;
using test::steps;

/// With the default of 8, streams in the same hardware queue can wait for each other.
/// docs/model.md#calls-of-several-threads
const bool connections_set = [] {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  return true;
}();

class OverlappingCallsOnGpus : public ApiOnGpus {
 protected:
  using Cases = std::vector<std::unique_ptr<ApiCase>>;

  static Cases cases(int64_t size, MemoryKind kind, int device, uint64_t seed) {
    Cases made;
    for (uint64_t i = 0; i < 8; ++i) {
      GemmProblem problem = test::square(size);
      problem.beta = 0;  // each call can repeat the one before
      const ApiCase::Where where{kind, device};
      made.push_back(std::make_unique<ApiCase>(problem, where, where, where, seed + i));
    }
    return made;
  }

  /// Each thread calls all of its cases in turn, several times.
  static void call_all(Context& context, std::vector<Cases>& of_threads) {
    std::vector<std::thread> threads;
    std::vector<std::string> errors(of_threads.size());
    for (size_t t = 0; t < of_threads.size(); ++t)
      threads.emplace_back([&, t] {
        try {
          for (int round = 0; round < 5; ++round)
            for (auto& one : of_threads[t]) one->call(context);
        } catch (const std::exception& error) {
          errors[t] = error.what();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::string& error : errors) EXPECT_EQ(error, "");
    for (const Cases& all : of_threads)
      for (const auto& one : all)
        EXPECT_EQ(one->mismatch(steps(one->problem)), "") << one->describe();
  }
};

TEST_F(OverlappingCallsOnGpus, AreRightForTheSameAndForDifferentProblems) {
  for (const MemoryKind kind :
       {MemoryKind::pinned, MemoryKind::device, MemoryKind::pageable})
    for (const int64_t second : {400, 300}) {
      Context context{in_tiles()};
      std::vector<Cases> of_threads;
      of_threads.push_back(cases(400, kind, 0, 10));
      of_threads.push_back(cases(second, kind, gpus_ - 1, 50));
      call_all(context, of_threads);
    }
}

TEST_F(OverlappingCallsOnGpus, AreRightAsSingleKernelsAndInMoreThreadsThanLanes) {
  Context context{shipped_machine()};
  std::vector<Cases> of_threads;
  for (uint64_t t = 0; t < 6; ++t)
    of_threads.push_back(cases(200 + 50 * int64_t(t),
                               t % 2 ? MemoryKind::device : MemoryKind::pinned,
                               int(t) % gpus_, 100 * t));
  call_all(context, of_threads);
}

/// Kernels hold the stream of the first call until the second call has ended. Earlier
/// rounds allocate everything, because allocations can wait for all work of a device.
TEST_F(OverlappingCallsOnGpus, EndWhileASubmittedCallOfAnotherThreadWaits) {
  Context context{in_tiles()};
  const ApiCase::Where where{MemoryKind::device, 0};
  GemmProblem problem = test::square(300), second = test::square(400);
  problem.beta = second.beta = 0;
  ApiCase held{problem, where, where, where, 1}, other{second, where, where, where, 2};
  BusyStream stream;
  for (const bool hold : {false, false, false, true}) {
    if (hold) stream.occupy_by_kernels();
    std::latch submitted{1}, over{1};
    std::thread first{[&] {
      const cuda::DeviceScope scope{0};
      GemmTimes times;
      held.call(context, stream, &times, false);
      EXPECT_TRUE(times.handed_over);
      submitted.count_down();
      over.wait();  // the number of the thread is not used again
    }};
    submitted.wait();
    auto end = std::async(std::launch::async, [&] { other.call(context); });
    EXPECT_EQ(end.wait_for(std::chrono::seconds{60}), std::future_status::ready);
    if (hold) {
      EXPECT_TRUE(stream.busy());
    }
    stream.release();
    end.get();
    over.count_down();
    first.join();
    context.synchronize();
  }
  EXPECT_EQ(held.mismatch(steps(held.problem)), "");
  EXPECT_EQ(other.mismatch(steps(other.problem)), "");
}

TEST_F(OverlappingCallsOnGpus, OfOneStreamStayInOrder) {
  Context context{in_tiles()};
  const ApiCase::Where where{MemoryKind::device, 0};
  const cuda::DeviceScope scope{0};
  BusyStream stream;
  GemmProblem problem = test::square(400);
  problem.beta = 0;
  for (uint64_t i = 0; i < 4; ++i) {
    ApiCase one{problem, where, where, where, i};
    one.call(context);
    const std::vector<std::byte> poison(one.a->bytes(), std::byte{0xFF});
    stream.occupy_by_kernels();
    std::thread other{[&] {
      const cuda::DeviceScope here{0};
      one.call(context, stream, nullptr, false);
    }};
    other.join();  // it has submitted its call
    cuda::check(cudaMemcpyAsync(one.a->data<void>(), poison.data(), poison.size(),
                                cudaMemcpyDefault, stream),
                "poisoning");
    stream.wait();
    context.synchronize();
    cuda::check(cudaMemcpy(one.a->data<void>(), one.a->given.data(), one.a->bytes(),
                           cudaMemcpyDefault),
                "filling");
    EXPECT_EQ(one.mismatch(steps(one.problem)), "") << "A was poisoned too early";
  }
}

TEST_F(OverlappingCallsOnGpus, KeepTheirMemoryDuringReleasesByOthers) {
  Context context{in_tiles()};
  std::vector<Cases> of_threads;
  of_threads.push_back(cases(300, MemoryKind::pinned, 0, 10));
  of_threads.push_back(cases(350, MemoryKind::pinned, 0, 50));
  std::atomic<bool> over = false;
  std::string error;
  std::thread changes{[&] {
    const std::vector<double> kept(100, 1.0);
    try {
      for (int i = 0; !over; ++i) {
        context.keep(kept.data(), 10, 10, 10);
        void* const memory = context.allocate_host(1 << 16);
        context.set_override("tile=" + std::to_string(i % 2 ? 64 : test::tile));
        context.free_host(memory);
        context.release(kept.data());
        if (i % 4 == 0) context.reserve(1 << 20);
      }
    } catch (const std::exception& thrown) {
      error = thrown.what();
    }
  }};
  call_all(context, of_threads);
  over = true;
  changes.join();
  EXPECT_EQ(error, "");
}

}  // namespace
}  // namespace tilerail
