// Asynchronous calls on GPUs.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "backends/cuda/run/cuda_check.hpp"
#include "tests/api/gpu/api_case.hpp"
#include "tests/api/gpu/api_fixture.hpp"
#include "tests/cuda/gpu/busy_stream.hpp"
#include "tests/cuda/gpu/gemm_case.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/test_seed.hpp"
#include "tilerail/tilerail.hpp"

namespace tilerail {
namespace {

using test::ApiCase;
using test::ApiOnGpus;
using test::BusyStream;
using test::MemoryKind;
using test::steps;
using test::tile;

class AsynchronousCalls : public ApiOnGpus {
 protected:
  static void reset_c(const ApiCase& one) {
    cuda::check(cudaMemcpy(one.c->data<void>(), one.c->given.data(), one.c->bytes(),
                           cudaMemcpyDefault),
                "filling");
  }
};

// Single kernels, plans that are submitted operation by operation and, if one GPU has all
// matrices, as a graph.
TEST_F(AsynchronousCalls, ReturnWhileTheStreamIsBusyAndRunInItsOrder) {
  struct Setting {
    MemoryKind kind;
    bool tiles, one_gpu;
  };
  for (const Setting& setting :
       {Setting{MemoryKind::device, false, true}, Setting{MemoryKind::device, true, true},
        Setting{MemoryKind::device, true, false},
        Setting{MemoryKind::pinned, true, false}}) {
    const int device = gpus_ - 1;
    const cuda::DeviceScope scope{device};
    Context context{setting.tiles ? in_tiles() : shipped_machine()};
    if (setting.one_gpu) context.set_devices({device});
    const ApiCase::Where on_device{MemoryKind::device, device},
        where{setting.kind, device};
    ApiCase one{test::square(400), on_device, where, where, 4};
    BusyStream stream;
    void *truth = nullptr, *result = nullptr;
    for (void** const memory : {&truth, &result})
      cuda::check(cudaHostAlloc(memory, std::max(one.a->bytes(), one.c->bytes()), 0),
                  "allocating");
    std::copy(one.a->given.begin(), one.a->given.end(), static_cast<std::byte*>(truth));
    const std::vector<std::byte> poison(one.a->bytes(), std::byte{0xFF});
    one.call(context);  // planned
    for (int run = 0; run < 4; ++run) {
      reset_c(one);
      cuda::check(cudaMemcpy(one.a->data<void>(), poison.data(), poison.size(),
                             cudaMemcpyDefault),
                  "poisoning");
      cuda::check(cudaDeviceSynchronize(), "poisoning");
      stream.occupy_by_kernels();
      cuda::check(cudaMemcpyAsync(one.a->data<void>(), truth, one.a->bytes(),
                                  cudaMemcpyDefault, stream),
                  "filling");
      GemmTimes times;
      one.call(context, stream, &times, false);
      EXPECT_TRUE(stream.busy()) << "the call has waited";
      EXPECT_TRUE(times.handed_over);
      cuda::check(cudaMemcpyAsync(result, one.c->data<void>(), one.c->bytes(),
                                  cudaMemcpyDefault, stream),
                  "fetching");
      stream.wait();
      const auto* const seen = static_cast<const std::byte*>(result);
      EXPECT_EQ(one.mismatch(steps(one.problem)), "") << "run " << run;
      EXPECT_TRUE(std::equal(seen, seen + one.c->bytes(), one.c->fetch().begin()))
          << "read before it was complete";
    }
    for (void* const memory : {truth, result}) cudaFreeHost(memory);
  }
}

// Each call reads the result of its predecessor, whatever its stream; plans and their
// graphs are dropped meanwhile.
TEST_F(AsynchronousCalls, RunOneAfterAnother) {
  ContextOptions few = in_tiles();
  few.cached_plans = 1;
  Context context{few};
  const cuda::DeviceScope scope{0};
  BusyStream streams[2];
  const ApiCase::Where where{MemoryKind::device, 0};
  std::vector<std::unique_ptr<ApiCase>> cases;
  for (uint64_t i = 0; i < 3; ++i) {
    GemmProblem problem = test::square(300 + 100 * int64_t(i));
    problem.beta = 0;
    cases.push_back(std::make_unique<ApiCase>(problem, where, where, where, i));
  }
  streams[0].occupy();
  streams[0].release_soon();
  for (int round = 0; round < 6; ++round)
    for (auto& one : cases) one->call(context, streams[round % 2], nullptr, false);
  context.synchronize();
  EXPECT_FALSE(streams[0].busy());
  for (const auto& one : cases)
    EXPECT_EQ(one->mismatch(steps(one->problem)), "") << one->describe();
}

TEST_F(AsynchronousCalls, AreRightForRandomProblems) {
  Context tiles{in_tiles()}, searched{shipped_machine()};
  std::mt19937_64 random{test::test_seed()};
  BusyStream stream;
  for (int i = 0; i < 100; ++i) {
    const uint64_t seed = random();
    std::mt19937_64 own{seed};
    const auto where = [&] {
      const auto kind = test::memory_kinds[std::uniform_int_distribution<size_t>{
          0, std::size(test::memory_kinds) - 1}(own)];
      return ApiCase::Where{kind, std::uniform_int_distribution<int>{0, gpus_ - 1}(own)};
    };
    const auto a = where(), b = where(), c = where();
    ApiCase one{test::random_problem(own, 400, 0), a, b, c, own()};
    const cuda::DeviceScope scope{0};
    ASSERT_NO_THROW(one.call(i % 2 ? tiles : searched, stream, nullptr, false))
        << one.describe() << ", seed " << seed;
    stream.wait();
    ASSERT_EQ(one.mismatch(steps(one.problem)), "")
        << one.describe() << ", seed " << seed;
  }
}

TEST_F(AsynchronousCalls, AreRefusedOnGpusInACapturedStream) {
  Context context{shipped_machine()};
  const cuda::DeviceScope scope{0};
  const ApiCase::Where where{MemoryKind::device, 0};
  ApiCase one{test::square(200), where, where, where, 4};
  one.call(context);
  BusyStream stream;
  cuda::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
              "capturing");
  expect_input_error([&] { one.call(context, stream, nullptr, false); },
                     {"captured", "expected"});
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  if (graph) cudaGraphDestroy(graph);
  reset_c(one);
  one.call(context, stream, nullptr, false);
  stream.wait();
  EXPECT_EQ(one.mismatch(1), "");
}

}  // namespace
}  // namespace tilerail
