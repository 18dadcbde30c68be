// Costs of GEMM kernels that a machine works out once.
#include "model/kernels/gemm_memo.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "model/base/threads.hpp"

namespace tilerail {
namespace {

constexpr GemmMemo::Kernel kernel{64, 32, 16, 0, DType::f64, Trans::no, Trans::no, false};

TEST(GemmMemo, AKernelIsWorkedOutOnce) {
  GemmMemo memo;
  int asked = 0;
  const auto work_out = [&] {
    ++asked;
    return GemmMemo::Cost{Seconds{2}, 0.5, Seconds{3}};
  };
  for (int i = 0; i < 2; ++i) {
    const GemmMemo::Cost cost = memo.of(kernel, work_out);
    EXPECT_EQ(cost.time, Seconds{2});
    EXPECT_EQ(cost.share, 0.5);
    EXPECT_EQ(cost.issue, Seconds{3});
  }
  EXPECT_EQ(asked, 1);
}

TEST(GemmMemo, KernelsThatDifferInOneValueAreDifferent) {
  std::vector<GemmMemo::Kernel> kernels(8, kernel);
  kernels[0].m = 65, kernels[1].n = 33, kernels[2].k = 17, kernels[3].device = 1, kernels[4].dtype = DType::f32;
  kernels[5].trans_a = Trans::yes, kernels[6].trans_b = Trans::yes, kernels[7].in_graph = true;
  GemmMemo memo;
  memo.of(kernel, [] { return GemmMemo::Cost{Seconds{1}}; });
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const Seconds own{2.0 + static_cast<double>(i)};
    EXPECT_EQ(memo.of(kernels[i], [&] { return GemmMemo::Cost{own}; }).time, own);
  }
}

TEST(GemmMemo, ThreadsThatAskForTheSameKernelGetTheSameCost) {
  GemmMemo memo;
  constexpr std::size_t threads = 8;
  share_work(threads, [&](std::size_t) {
    for (std::int64_t m = 1; m < 1000; ++m) {
      GemmMemo::Kernel other = kernel;
      other.m = m;
      const Seconds time{static_cast<double>(m)};
      EXPECT_EQ(memo.of(other, [&] { return GemmMemo::Cost{time}; }).time, time);
    }
  });
}

TEST(GemmMemo, MoreKernelsThanItKeepsAreRightToo) {
  GemmMemo memo;
  for (std::int64_t m = 1; m < 200'000; ++m) {
    GemmMemo::Kernel other = kernel;
    other.m = m;
    const Seconds time{static_cast<double>(m)};
    ASSERT_EQ(memo.of(other, [&] { return GemmMemo::Cost{time}; }).time, time);
  }
}

}  // namespace
}  // namespace tilerail
