#pragma once

#include <string>
#include <utility>
#include <vector>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"
#include "report/timeline/annotate.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::test {

/// One host and two GPUs:
///
///   host --10 GB/s-- pcie --10 GB/s-- gpu0      every link both ways, no latency
///                         --10 GB/s-- gpu1      per_flow 4 GB/s on gpu0 <-> gpu1
///   gpu0 --20 GB/s-- gpu1
///   group "uplink": host->pcie forward, pcie->host backward, 8 GB/s, 12 GB/s with both busy
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
  uplink.capacity = small_machine::capacity(8), uplink.both_busy = small_machine::capacity(12);
  return Topology{std::move(d)};
}

/// C (200 x 100) = A (200 x 100) B (100 x 100) + 2 C in f64, all on the host, in two tiles of 100 x 100: the upper on
/// gpu0 with C fetched late, the lower on gpu1, which gets B from gpu0.
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
inline constexpr std::int64_t tile_bytes = 80'000;
inline constexpr double product_flops = 2e6;

class SamplePlan {
 public:
  SamplePlan() {
    plan_.problem = checked({200, 100, 100, DType::f64, Trans::no, Trans::no, 1, 2, host_, host_, host_, 0, 0, 0});
    plan_.machine = "sample";
    plan_.memories = {"host", "gpu0", "gpu1"};
    plan_.policy = "gemmex+tile=100";
    plan_.tile = 100;
    plan_.devices = {gpu0_, gpu1_};
    plan_.queues = {{Queue::Kind::copy, host_, gpu0_, 0},    {Queue::Kind::copy, gpu0_, gpu1_, 0},
                    {Queue::Kind::compute, gpu0_, gpu0_, 0}, {Queue::Kind::compute, gpu0_, gpu0_, 1},
                    {Queue::Kind::copy, gpu0_, host_, 0},    {Queue::Kind::copy, host_, gpu1_, 0},
                    {Queue::Kind::copy, host_, gpu1_, 1},    {Queue::Kind::compute, gpu1_, gpu1_, 0},
                    {Queue::Kind::copy, gpu1_, host_, 0}};
    plan_.buffers = {{Buffer::Kind::matrix_a, host_, 200, 100, 200, 0},
                     {Buffer::Kind::matrix_b, host_, 100, 100, 100, 0},
                     {Buffer::Kind::matrix_c, host_, 200, 100, 200, 0}};
    for (const auto& [memory, slot] : std::vector<std::pair<MemoryId, int>>{
             {gpu0_, 0}, {gpu0_, 1}, {gpu1_, 0}, {gpu0_, 2}, {gpu0_, 3}, {gpu1_, 1}, {gpu1_, 2}}) {
      plan_.buffers.push_back({Buffer::Kind::tile, memory, 100, 100, 100, slot * tile_bytes});
    }
    plan_.peak_bytes = {0, 4 * tile_bytes, 3 * tile_bytes};
    plan_.dep_begin = {0};
    add_ops();
  }

  const Plan& plan() const { return plan_; }
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
  static View tile(int buffer, std::int64_t row = 0) { return {BufferId{buffer}, row, 0, 100, 100}; }

  void add(OpKind kind, int queue, std::vector<int> deps, View a, View b, View y, Scalar alpha = Scalar::one,
           Scalar beta = Scalar::zero) {
    plan_.ops.push_back({kind, Trans::no, Trans::no, QueueId{queue}, a, b, y, alpha, beta});
    for (const int dep : deps) plan_.deps.push_back(OpId{dep});
    plan_.dep_begin.push_back(static_cast<std::uint32_t>(plan_.deps.size()));
  }

  void add_ops() {
    const int a = 0, b = 1, c = 2;
    add(OpKind::copy, 0, {}, tile(a), {}, tile(3));
    add(OpKind::copy, 0, {}, tile(b), {}, tile(4));
    add(OpKind::copy, 1, {1}, tile(4), {}, tile(5));
    add(OpKind::gemm, 2, {0, 1}, tile(3), tile(4), tile(6));
    add(OpKind::copy, 0, {}, tile(c), {}, tile(7));
    add(OpKind::axpby, 3, {3, 4}, tile(7), {}, tile(6), Scalar::beta, Scalar::one);
    add(OpKind::copy, 4, {5}, tile(6), {}, tile(c));
    add(OpKind::copy, 5, {}, tile(a, 100), {}, tile(8));
    add(OpKind::copy, 6, {}, tile(c, 100), {}, tile(9));
    add(OpKind::gemm, 7, {2, 7, 8}, tile(8), tile(5), tile(9), Scalar::alpha, Scalar::beta);
    add(OpKind::copy, 8, {9}, tile(9), {}, tile(c, 100));
    add(OpKind::join, 7, {6, 10}, {}, {}, {});
  }

  MemoryId host_{0}, gpu0_{1}, gpu1_{2};
  Plan plan_;
};

inline AnnotatedTimeline sample_timeline(const Topology& machine = sample_machine()) {
  const SamplePlan sample;
  return annotate(sample.plan(), machine, SamplePlan::timeline(sample.plan()));
}

/// The sample machine with 100 W idle and 500 W busy. A tile of 100 x 100 is one block of 16: kernels add 25 W.
inline Topology powered_machine() {
  auto d = sample_machine().description();
  for (Memory& memory : d.memories)
    if (memory.kind == NodeKind::gpu) memory.idle_watts = Watts{100}, memory.busy_watts = Watts{500};
  return Topology{std::move(d)};
}
/// On it: gpu0 9 J idle and 25 W of kernels for 35 ms, gpu1 9 J and 25 W for 25 ms.
inline constexpr double sample_joules[] = {9 + 25 * 35e-3, 9 + 25 * 25e-3};

/// The same plan, measured: `op` took `by` seconds longer and everything after it in time begins later by as much.
inline AnnotatedTimeline delayed(AnnotatedTimeline timeline, std::size_t op, double by) {
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
