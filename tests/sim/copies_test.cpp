// Exact times of copies on two-gpu: host <-> pcie0 12 GB/s, pcie0 <-> GPU 10 GB/s, gpu0
// <-> gpu1 40 GB/s, every link 5 us. Host to GPU: two links, 10 us. 10 MB at 10 GB/s are
// 1 ms.

#include "model/base/error.hpp"
#include "tests/support/plan_helper.hpp"

namespace tilerail::testing {
namespace {

TEST(SimCopies, OneCopyPaysLatencyThenItsBytesAtTheNarrowestLink) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  const OpId copy = p.copy(host, gpu0, 100 * MB);
  expect_times(SimExecutor{machine}.execute(p.plan), copy, 0, 10 * us + 10 * ms);
}

TEST(SimCopies, AFastLinkIsNotSlowedByItsLatency) {
  // 1 GB over 300 GB/s and 10 us: 10 us + 3.33333 ms. (TCP models cap it at 209 GB/s.)
  const Topology machine = two_gpu([](auto& d) {
    d.memories[1].capacity = d.memories[2].capacity = Bytes{2e9};
    Link& link = d.links[link_named(d, "gpu0->gpu1").index()];
    link.bandwidth = Rate{300e9};
    link.latency = Seconds{10e-6};
  });
  HandPlan p{machine};
  const OpId copy = p.copy(gpu0, gpu1, 1000 * MB);
  expect_times(SimExecutor{machine}.execute(p.plan), copy, 0, 10 * us + 1.0 / 300);
}

TEST(SimCopies, AQueueRunsItsCopiesOneAfterAnother) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  const OpId first = p.copy(host, gpu0, 10 * MB), second = p.copy(host, gpu0, 10 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, first, 0, 1.01 * ms);
  expect_times(t, second, 1.01 * ms, 2.02 * ms);
}

TEST(SimCopies, TwoCopiesOnOneLinkHalveIt) {
  const Topology machine = two_gpu(remove_engine_limits);
  HandPlan p{machine};
  // 5 GB/s each until the first has its 10 MB, at 2 ms; then the other 10 MB of the
  // second, at 10 GB/s.
  const OpId small = p.copy(host, gpu0, 10 * MB, {}, 0),
             large = p.copy(host, gpu0, 20 * MB, {}, 1);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, small, 0, 10 * us + 2 * ms);
  expect_times(t, large, 0, 10 * us + 3 * ms);
}

TEST(SimCopies, OppositeCopiesDoNotShare) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  const OpId in = p.copy(host, gpu0, 10 * MB), out = p.copy(gpu0, host, 10 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, in, 0, 1.01 * ms);
  expect_times(t, out, 0, 1.01 * ms);
}

TEST(SimCopies, ASharedUplinkIsHalvedWhileBothRun) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  // 6 GB/s each for 10 ms; then the other 60 MB of the second get the 10 GB/s of its own
  // link: 6 ms.
  const OpId small = p.copy(host, gpu0, 60 * MB), large = p.copy(host, gpu1, 120 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, small, 0, 10 * us + 10 * ms);
  expect_times(t, large, 0, 10 * us + 16 * ms);
}

TEST(SimCopies, LatencyDoesNotBiasTheSharesOfALink) {
  const Topology machine = two_gpu([](auto& d) {
    d.links[link_named(d, "pcie0->gpu1").index()].latency = Seconds{505e-6};
  });
  HandPlan p{machine};
  // The near copy flows alone at 10 GB/s from 10 us to 510 us: 5 MB. Then 6 GB/s each:
  // its other 115 MB take 115/6 ms, in which the far one moves 115 MB as well; its last 5
  // MB take 0.5 ms at 10 GB/s.
  const OpId near = p.copy(host, gpu0, 120 * MB), far = p.copy(host, gpu1, 120 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, near, 0, 510 * us + 115.0 / 6 * ms);
  expect_times(t, far, 0, 510 * us + 115.0 / 6 * ms + 0.5 * ms);
}

TEST(SimCopies, AChunkedChainOfThreeHopsTakesItsSlowestHopAndOneChunkOfTheOthers) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  // host -> gpu0 -> gpu1 -> host in 8 chunks of 10 MB. A chunk takes a = 1.01 ms on the
  // outer hops and b = 5 us + 0.25 ms on the inner one. Chunk j reaches gpu0 at (j+1) a,
  // gpu1 b later and the host another a later: the last hop is free by then, because it
  // receives a chunk every a. The end is at 9 a + b.
  constexpr double a = 1.01 * ms, b = 0.255 * ms;
  std::vector<std::array<OpId, 3>> hops;
  for (int j = 0; j < 8; ++j) {
    const OpId first = p.copy(host, gpu0, 10 * MB),
               second = p.copy(gpu0, gpu1, 10 * MB, {first});
    hops.push_back({first, second, p.copy(gpu1, host, 10 * MB, {second})});
  }
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  for (int j = 0; j < 8; ++j) {
    const auto& [first, second, third] = hops[size_t(j)];
    expect_times(t, first, j * a, (j + 1) * a);
    expect_times(t, second, (j + 1) * a, (j + 1) * a + b);
    expect_times(t, third, (j + 1) * a + b, (j + 2) * a + b);
  }
  expect_time(t.makespan().value, 9 * a + b);
}

TEST(SimCopies, ASingleCopyGetsAtMostThePerFlowRate) {
  const Topology machine = two_gpu([](auto& d) {
    remove_engine_limits(d);
    d.links[link_named(d, "host->pcie0").index()].per_flow = Rate{4e9};
  });
  HandPlan p{machine};
  // Two copies at 4 GB/s each, three at 10/3.
  const OpId alone = p.copy(host, gpu0, 20 * MB);
  const OpId x = p.copy(host, gpu0, 20 * MB, {alone}, 0),
             y = p.copy(host, gpu0, 20 * MB, {alone}, 1);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, alone, 0, 10 * us + 5 * ms);
  expect_times(t, x, 10 * us + 5 * ms, 20 * us + 10 * ms);
  expect_times(t, y, 10 * us + 5 * ms, 20 * us + 10 * ms);
}

TEST(SimCopies, NarrowColumnsLoseBandwidth) {
  const Topology machine = two_gpu([](auto& d) {
    d.strided.points = {{Bytes{8192}, 0.5}, {Bytes{32768}, 1.0}};
  });
  HandPlan p{machine};
  // Columns of 1024 doubles are 8 KiB. 1250 of them, 10.24 MB, at half of the pair's 10
  // GB/s when strided.
  const OpId strided = p.copy(host, gpu0, 1024, 1250, 4096, {}, 0);
  const OpId packed = p.copy(host, gpu0, 1024, 1250, 1024, {}, 0);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, strided, 0, 10 * us + 2.048 * ms);
  expect_times(t, packed, 10 * us + 2.048 * ms, 20 * us + 3.072 * ms);
}

// At half of the rate, finding pages takes as long as the bytes. 5.12 MB leave in a
// quarter of the 2.048 ms of the copy in, so finding pages takes 1 + 0.25 (3 - 1) times
// as long: in total 2.5 times the 1.024 ms of packed bytes.
TEST(SimCopies, NarrowColumnsLoseMoreForAsLongAsCopiesInterfere) {
  const Topology machine = two_gpu([](auto& d) {
    d.strided.points = {{Bytes{8192}, 0.5}, {Bytes{32768}, 1.0}}, d.strided.beside = 3;
  });
  for (const bool interferes : {false, true}) {
    HandPlan p{machine};
    const OpId strided = p.copy(host, gpu0, 1024, 1250, 4096, {}, 0);
    if (interferes) p.copy(gpu0, host, 1024, 625, 1024, {}, 0);
    expect_times(SimExecutor{machine}.execute(p.plan), strided, 0,
                 10 * us + (interferes ? 2.56 : 2.048) * ms);
  }
}

TEST(SimCopies, ACopyWithinAGpuReadsAndWritesItsMemory) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  // 2 x 100 MB at 1 TB/s; each fills the GPU, so the second waits for the first, and a
  // kernel for both.
  const OpId alone = p.copy(gpu0, gpu0, 100 * MB);
  const OpId x = p.copy(gpu0, gpu0, 100 * MB, {alone}, 0),
             y = p.copy(gpu0, gpu0, 100 * MB, {alone}, 1);
  const OpId kernel = p.gemm(gpu0, 1024, 1024, 1024, {alone});
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, alone, 0, 0.2 * ms);
  expect_times(t, x, 0.2 * ms, 0.4 * ms);
  expect_times(t, y, 0.4 * ms, 0.6 * ms);
  expect_times(t, kernel, 0.6 * ms, 0.6 * ms + 2.0 * 1024 * 1024 * 1024 / 1e12);
}

TEST(SimCopies, ACopyWithinAGpuWaitsForTheKernelsBeforeIt) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  constexpr double kernel = 2.0 * 1024 * 1024 * 1024 / 1e12;
  p.gemm(gpu0, 1024, 1024, 1024);
  const OpId within = p.copy(gpu0, gpu0, 100 * MB), to_host = p.copy(gpu0, host, 10 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, within, kernel, kernel + 0.2 * ms);
  expect_time(t.ops[to_host.index()].start, 0);  // has a separate engine
}

TEST(SimCopies, ACopyWithinAMemoryOfUnknownBandwidthTakesNoTime) {
  const Topology machine =
      two_gpu([](auto& d) { d.kernels[0].memory_bandwidth.reset(); });
  HandPlan p{machine};
  const OpId on_gpu = p.copy(gpu0, gpu0, 10 * MB), on_host = p.copy(host, host, 10 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, on_gpu, 0, 0);
  expect_times(t, on_host, 0, 0);
}

TEST(SimCopies, AnEmptyCopyTakesItsLatency) {
  const Topology machine = two_gpu();
  HandPlan p{machine};
  const OpId empty = p.copy(host, gpu0, 0), next = p.copy(host, gpu0, 10 * MB);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  expect_times(t, empty, 0, 10 * us);
  expect_times(t, next, 10 * us, 1.02 * ms);
}

TEST(SimCopies, ColumnsOfAnotherLengthMoveAtAnotherRateAlsoBehindEachOther) {
  // Columns of 1 KiB move at a quarter of 10 GB/s and columns of 4 KiB at 10 GB/s, with a
  // pitch of 32 KiB in both copies.
  const Topology machine = two_gpu([](auto& d) {
    d.strided = {.points = {{Bytes{1024}, 0.25}, {Bytes{4096}, 1}}, .source = "round"};
  });
  HandPlan p{machine};
  const OpId narrow = p.copy(host, gpu0, 128, 1000, 4096, {}, 0),
             wide = p.copy(host, gpu0, 512, 1000, 4096, {}, 0);
  const Timeline t = SimExecutor{machine}.execute(p.plan);
  constexpr double each = 10 * us + 4.096e6 / 10e9;
  expect_times(t, narrow, 0, each);
  expect_times(t, wide, each, 2 * each);
}

}  // namespace
}  // namespace tilerail::testing
