#pragma once

#include <initializer_list>
#include <utility>

#include "cost/estimate.hpp"
#include "cost/kernel_costs.hpp"
#include "plan/builder.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::cost_test {

/// two-gpu without submission costs, with 10 GB/s each way to gpu0, 12 in both directions
/// together, of which 4 to the GPU. Kernels: 1 TFLOP/s, 1.5 times as long on a GPU that
/// is always busy and twice as long on columns of 8 bytes. Columns of 1 KiB move at a
/// quarter of the rate, or at half of it if the GPU's cache of 50 MB contains their
/// pages.
inline Topology machine() {
  auto d = testing::shipped("two-gpu").description();
  for (Link& link : d.links) link.latency = Seconds{0};
  CapacityGroup both;
  both.name = "both", both.source = "round";
  both.forward = {LinkId{2}}, both.backward = {LinkId{3}};  // pcie0->gpu0 and back
  both.both_busy = CapacityCurve{{{1, Rate{12e9}}}}, both.forward_share = 1.0 / 3;
  d.groups = {both};
  d.strided = {.points = {{Bytes{1024}, 0.25}},
               .again = {{Bytes{1024}, 0.5}},
               .cache = Bytes{50e6},
               .source = "round"};
  KernelTimes& kernels = d.kernels[0];
  kernels.launch = Seconds{0},
  kernels.multiprocessors = kernels.block_m = kernels.block_n = 1;
  kernels.gemm[0].sustained = {{0.5, 1.0}, {1.0, 1.5}},
  kernels.gemm[0].alignment = {{8, 2.0}};
  return Topology{std::move(d)};
}

constexpr MemoryId host{0}, gpu{1};

/// Copies of whole matrices, or of their first rows, and products of tiles on the GPU.
class Draft {
 public:
  Draft() {
    plan.memories = {"host", "gpu0", "gpu1"};
    plan.peak_bytes = {0, 0, 0};
    plan.devices = {gpu};
    plan.gemm().m = plan.gemm().n = plan.gemm().k = 1024;
    plan.tensors = tensors_of(plan.gemm());
  }
  View matrix(MemoryId memory, int64_t rows, int64_t cols, int64_t ld = 0) {
    Buffer buffer;
    buffer.memory = memory;
    buffer.rows = rows, buffer.cols = cols, buffer.ld = ld == 0 ? rows : ld;
    return {builder.add_buffer(buffer), 0, 0, rows, cols};
  }
  OpId copy(const View& from, const View& to, std::initializer_list<OpId> after = {}) {
    const Op op{.queue = builder.copy_queue(plan.buffer(from.buffer).memory,
                                            plan.buffer(to.buffer).memory)};
    return add(op, {from, to}, after);
  }
  OpId gemm(const View& a, const View& b, const View& y,
            std::initializer_list<OpId> after = {}) {
    return add({.kind = OpKind::gemm, .queue = builder.compute_queue(gpu, 0)}, {a, b, y},
               after);
  }
  double estimate() { return whole_estimate().makespan.value; }
  double busiest() { return whole_estimate().busiest.value; }
  double cost(OpId op) { return PlanKernelCosts{plan, machine()}.of(op).time.value; }

  Plan plan;

 private:
  OpId add(const Op& op, const Operands& operands, std::initializer_list<OpId> after) {
    Deps deps;
    for (const OpId id : after) deps.after(id);
    return builder.add(op, operands, deps);
  }
  Estimate whole_estimate() {
    const Topology topology = machine();
    return estimate_plan(plan, topology, Resources{topology});
  }
  PlanBuilder builder{plan};
};

}  // namespace tilerail::cost_test
