#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/machine/topology_toml.hpp"
#include "report/timeline/annotate.hpp"
#include "tests/support/plan_draft.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::test {

/// One host and two GPUs:
///
///   host --10 GB/s-- pcie --10 GB/s-- gpu0      every link both ways, no latency
///                         --10 GB/s-- gpu1      per_flow 4 GB/s on gpu0 <-> gpu1
///   gpu0 --20 GB/s-- gpu1
///   group "uplink": host->pcie forward, pcie->host backward, 8 GB/s, 12 GB/s with both
///   busy
inline Topology sample_machine() {
  auto d = small_machine::unlinked("host", "gpu", 2, {"pcie"});
  d.name = "sample";
  KernelTimes& kernels = d.kernels[0];
  kernels.launch = Seconds{5e-6}, kernels.multiprocessors = 16;
  kernels.block_m = kernels.block_n = 128, kernels.memory_bandwidth = Rate{1e12};
  kernels.gemm = {small_machine::gemms(DType::f64, {{1, 1}})};
  const auto [to_gpus, from_gpus] = small_machine::add_links(d, "host", "pcie", 10);
  for (const char* gpu : {"gpu0", "gpu1"}) small_machine::add_links(d, "pcie", gpu, 10);
  const auto [there, back] = small_machine::add_links(d, "gpu0", "gpu1", 20);
  for (const LinkId link : {there, back}) d.links[link.index()].per_flow = Rate{4e9};
  CapacityGroup& uplink = small_machine::add_group(d, "uplink", {to_gpus}, {from_gpus});
  uplink.capacity = small_machine::capacity(8),
  uplink.both_busy = small_machine::capacity(12);
  return Topology{std::move(d)};
}

/// C (200 x 100) = A (200 x 100) B (100 x 100) + 2 C in f64, all on the host, in two
/// tiles of 100 x 100: the upper on gpu0 with C fetched late, the lower on gpu1, which
/// gets B from gpu0.
///
///   op  queue            what                                 after     time in ms
///   0   host->gpu0       A[0:100,0:100]   -> tile 3                      0 to 10
///   1   host->gpu0       B[0:100,0:100]   -> tile 4                     10 to 20
///   2   gpu0->gpu1       tile 4           -> tile 5             1       22 to 26
///   3   gpu0 compute 0   C' = A B         -> tile 6             0 1     20 to 50
///   4   host->gpu0       C[0:100,0:100]   -> tile 7                     20 to 30
///   5   gpu0 compute 1   tile 6 += 2 tile 7                     3 4     50 to 55
///   6   gpu0->host       tile 6           -> C[0:100,0:100]     5       60 to 80
///   7   host->gpu1       A[100:200,0:100] -> tile 8                     30 to 40
///   8   host->gpu1 #2    C[100:200,0:100] -> tile 9                     35 to 45
///   9   gpu1 compute 0   C = A B + 2 C    -> tile 9             2 7 8   45 to 70
///   10  gpu1->host       tile 9           -> C[100:200,0:100]   9       70 to 90
///   11  gpu1 compute 0   join                                   6 10    90 to 90
/// A tile holds 80,000 bytes; a product takes 2e6 flops.
inline constexpr int64_t tile_bytes = 80'000;
inline constexpr double product_flops = 2e6;

class SamplePlan {
 public:
  SamplePlan() {
    draft_.plan.policy = "gemmex+tile=100", draft_.plan.tile = 100;
    const QueueId in0 = draft_.copy_queue(host_, gpu0_),
                  peer = draft_.copy_queue(gpu0_, gpu1_);
    const QueueId first = draft_.compute_queue(gpu0_),
                  second = draft_.compute_queue(gpu0_, 1);
    const QueueId out0 = draft_.copy_queue(gpu0_, host_);
    const QueueId in1 = draft_.copy_queue(host_, gpu1_),
                  beside = draft_.copy_queue(host_, gpu1_, 1);
    const QueueId kernels1 = draft_.compute_queue(gpu1_),
                  out1 = draft_.copy_queue(gpu1_, host_);
    const View a0 = draft_.tile_for(gpu0_, half(draft_.a(), 0)),
               b0 = draft_.tile_for(gpu0_, draft_.b()),
               b1 = draft_.tile_for(gpu1_, draft_.b()),
               product0 = draft_.tile_for(gpu0_, half(draft_.c(), 0)),
               c0 = draft_.tile_for(gpu0_, half(draft_.c(), 0));
    const View a1 = draft_.tile_for(gpu1_, half(draft_.a(), 100)),
               c1 = draft_.tile_for(gpu1_, half(draft_.c(), 100));
    const OpId fetch_a0 = draft_.copy(in0, half(draft_.a(), 0), a0),
               fetch_b = draft_.copy(in0, draft_.b(), b0);
    const OpId pass_b = draft_.copy(peer, b0, b1, {fetch_b});
    const OpId multiply = draft_.gemm(first, a0, b0, product0, {}, {fetch_a0, fetch_b});
    const OpId fetch_c0 = draft_.copy(in0, half(draft_.c(), 0), c0);
    const OpId sum = draft_.axpby(second, c0, product0, {Scalar::beta, Scalar::one},
                                  {multiply, fetch_c0});
    const OpId write0 = draft_.copy(out0, product0, half(draft_.c(), 0), {sum});
    const OpId fetch_a1 = draft_.copy(in1, half(draft_.a(), 100), a1);
    const OpId fetch_c1 = draft_.copy(beside, half(draft_.c(), 100), c1);
    const OpId lower = draft_.gemm(kernels1, a1, b1, c1, {Scalar::alpha, Scalar::beta},
                                   {pass_b, fetch_a1, fetch_c1});
    const OpId write1 = draft_.copy(out1, c1, half(draft_.c(), 100), {lower});
    draft_.join(kernels1, {write0, write1});
  }

  const Plan& plan() const { return draft_.plan; }
  static Timeline timeline(const Plan& plan) {
    Timeline result{"sim", content_hash(plan), {}};
    for (const auto& [start, end] : std::vector<std::pair<int, int>>{{0, 10},
                                                                     {10, 20},
                                                                     {22, 26},
                                                                     {20, 50},
                                                                     {20, 30},
                                                                     {50, 55},
                                                                     {60, 80},
                                                                     {30, 40},
                                                                     {35, 45},
                                                                     {45, 70},
                                                                     {70, 90},
                                                                     {90, 90}}) {
      result.ops.push_back({start * 1e-3, end * 1e-3});
    }
    return result;
  }

 private:
  static View half(const View& matrix, int64_t row) {
    return part(matrix, row, 0, 100, 100);
  }

  MemoryId host_{0}, gpu0_{1}, gpu1_{2};
  PlanDraft draft_{sample_machine(),
                   {200, 100, 100, DType::f64, Trans::no, Trans::no, 1, 2, host_, host_,
                    host_, 0, 0, 0}};
};

inline AnnotatedTimeline sample_timeline(const Topology& machine = sample_machine()) {
  const SamplePlan sample;
  return annotate(sample.plan(), machine, SamplePlan::timeline(sample.plan()));
}

/// The sample machine with 100 W idle and 500 W busy. A tile of 100 x 100 is one block of
/// 16 and, with 1,000 TFLOP/s and 2 TB/s, uses less of the peaks in the 5 us of a launch
/// (320 kB take 0.16 us): kernels add 25 W.
inline Topology powered_machine() {
  auto d = sample_machine().description();
  d.kernels[0].gemm[0].points[0].rate = FlopRate{1e15},
  d.kernels[0].memory_bandwidth = Rate{2e12};
  for (Memory& memory : d.memories)
    if (memory.kind == VertexKind::gpu)
      memory.processor->idle_watts = Watts{100},
      memory.processor->busy_watts = Watts{500};
  return Topology{std::move(d)};
}
/// On the powered machine: gpu0 9 J idle and 25 W of kernels for 35 ms, gpu1 9 J and 25 W
/// for 25 ms.
inline constexpr double sample_joules[] = {9 + 25 * 35e-3, 9 + 25 * 25e-3};

/// The same plan, measured: `op` takes `by` seconds longer and delays all later
/// operations by as much.
inline AnnotatedTimeline delayed(AnnotatedTimeline timeline, size_t op, double by) {
  const double from = timeline.ops[op].end;
  timeline.ops[op].end += by;
  for (AnnotatedOp& other : timeline.ops) {
    if (&other == &timeline.ops[op] || other.start < from) continue;
    other.ready += by;
    other.start += by;
    other.end += by;
  }
  timeline.metadata.backend = "host";
  return timeline;
}

}  // namespace tilerail::test
