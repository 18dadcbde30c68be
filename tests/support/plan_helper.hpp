#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backends/sim/sim_executor.hpp"
#include "model/machine/topology.hpp"
#include "plan/plan.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {

/// Small plans written by hand. Tiles of one memory all start at its beginning: only times matter here.
class HandPlan {
 public:
  using Deps = std::vector<OpId>;

  explicit HandPlan(const Topology& topology, DType dtype = DType::f64) : bytes_{element_size(dtype)} {
    plan.machine = topology.name();
    plan.problem.dtype = dtype;
    for (const Memory& memory : topology.memories()) plan.memories.push_back(memory.name);
    plan.problem.place_a = plan.problem.place_b = plan.problem.place_c = topology.hosts().front();
    plan.devices = topology.gpus();
    plan.peak_bytes.assign(plan.memories.size(), 0);
    plan.dep_begin = {0};
  }

  /// A packed copy of `bytes` in queue `index` of the pair.
  OpId copy(MemoryId src, MemoryId dst, std::int64_t bytes, const Deps& deps = {}, int index = 0) {
    const std::int64_t rows = bytes / bytes_;
    return copy(src, dst, rows, 1, rows, deps, index);
  }

  /// A copy of rows x cols elements out of a buffer with leading dimension `ld`.
  OpId copy(MemoryId src, MemoryId dst, std::int64_t rows, std::int64_t cols, std::int64_t ld, const Deps& deps,
            int index) {
    Op op;
    op.kind = OpKind::copy;
    op.queue = queue(Queue::Kind::copy, src, dst, index);
    op.a = tile(src, rows, cols, ld);
    op.y = tile(dst, rows, cols, rows);
    return add(op, deps);
  }

  OpId gemm(MemoryId gpu, std::int64_t m, std::int64_t n, std::int64_t k, const Deps& deps = {}, int index = 0,
            Scalar beta = Scalar::one) {
    Op op;
    op.kind = OpKind::gemm;
    op.queue = queue(Queue::Kind::compute, gpu, gpu, index);
    op.a = tile(gpu, m, k, m), op.b = tile(gpu, k, n, k), op.y = tile(gpu, m, n, m);
    op.beta = beta;
    return add(op, deps);
  }

  OpId axpby(MemoryId gpu, std::int64_t m, std::int64_t n, Scalar alpha, Scalar beta, const Deps& deps = {},
             int index = 0) {
    Op op;
    op.kind = OpKind::axpby;
    op.queue = queue(Queue::Kind::compute, gpu, gpu, index);
    op.a = tile(gpu, m, n, m), op.y = tile(gpu, m, n, m);
    op.alpha = alpha, op.beta = beta;
    return add(op, deps);
  }

  OpId join(MemoryId gpu, const Deps& deps, int index = 0) {
    Op op;
    op.kind = OpKind::join;
    op.queue = queue(Queue::Kind::compute, gpu, gpu, index);
    return add(op, deps);
  }

  Plan plan;

 private:
  QueueId queue(Queue::Kind kind, MemoryId src, MemoryId dst, int index) {
    auto& all = plan.queues;
    const auto known = std::find_if(all.begin(), all.end(), [&](const Queue& q) {
      return q.kind == kind && q.src == src && q.dst == dst && q.index == index;
    });
    if (known != all.end()) return QueueId{static_cast<std::size_t>(known - all.begin())};
    all.push_back({kind, src, dst, index});
    return QueueId{all.size() - 1};
  }

  View tile(MemoryId memory, std::int64_t rows, std::int64_t cols, std::int64_t ld) {
    ld = std::max<std::int64_t>(1, ld);
    plan.buffers.push_back({Buffer::Kind::tile, memory, rows, cols, ld, 0, plan.problem.dtype});
    auto& peak = plan.peak_bytes[memory.index()];
    peak = std::max(peak, ld * cols * bytes_);
    return {BufferId{plan.buffers.size() - 1}, 0, 0, rows, cols};
  }

  OpId add(const Op& op, const Deps& deps) {
    plan.ops.push_back(op);
    plan.deps.insert(plan.deps.end(), deps.begin(), deps.end());
    plan.dep_begin.push_back(static_cast<std::uint32_t>(plan.deps.size()));
    return OpId{plan.ops.size() - 1};
  }

  std::int64_t bytes_;  // of an element
};

/// two-gpu: its comment gives the rates; `change` edits the description first.
inline Topology two_gpu(const std::function<void(Topology::Description&)>& change = {}) {
  auto description = test::shipped("two-gpu").description();
  if (change) change(description);
  return Topology{std::move(description)};
}

inline void remove_engine_limits(Topology::Description& d) {
  for (Memory& memory : d.memories) memory.engines = {};
}

inline LinkId link_named(const Topology::Description& d, const std::string& name) {
  for (std::size_t i = 0; i < d.links.size(); ++i)
    if (d.links[i].name == name) return LinkId{i};
  throw std::runtime_error{"no link " + name};
}

/// Memories of two-gpu, in the order of the file.
inline const MemoryId host{0}, gpu0{1}, gpu1{2};

constexpr double us = 1e-6, ms = 1e-3;  // seconds
constexpr std::int64_t MB = 1'000'000;  // bytes

/// Equal but for the rounding of a few sums.
inline void expect_time(double actual, double expected) { EXPECT_NEAR(actual, expected, 1e-9 * expected + 1e-12); }

inline void expect_times(const Timeline& timeline, OpId op, double start, double end) {
  SCOPED_TRACE("operation " + std::to_string(op.value));
  expect_time(timeline.ops[op.index()].start, start);
  expect_time(timeline.ops[op.index()].end, end);
}

}  // namespace tilerail::testing
