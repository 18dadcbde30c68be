#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backends/sim/sim_executor.hpp"
#include "model/machine/topology_toml.hpp"
#include "tests/support/plan_draft.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::testing {

/// Small plans written by hand. All tiles of a memory start at its beginning, because
/// only times matter.
class HandPlan : public PlanDraft {
 public:
  explicit HandPlan(const Topology& topology, DType dtype = DType::f64)
      : PlanDraft{topology, dtype} {}

  /// A packed copy of `bytes` in queue `index` of the pair.
  OpId copy(MemoryId src, MemoryId dst, int64_t bytes, const Deps& deps = {},
            int index = 0) {
    const int64_t rows = bytes / element_size(plan.dtype());
    return copy(src, dst, rows, 1, rows, deps, index);
  }

  /// A copy of rows x cols elements out of a buffer with leading dimension `ld`.
  OpId copy(MemoryId src, MemoryId dst, int64_t rows, int64_t cols, int64_t ld,
            const Deps& deps, int index) {
    const View from = tile_at(src, 0, rows, cols, ld), to = packed(dst, rows, cols);
    return PlanDraft::copy(copy_queue(src, dst, index), from, to, deps);
  }

  OpId gemm(MemoryId gpu, int64_t m, int64_t n, int64_t k, const Deps& deps = {},
            int index = 0, Scalar beta = Scalar::one) {
    const View a = packed(gpu, m, k), b = packed(gpu, k, n), y = packed(gpu, m, n);
    return PlanDraft::gemm(compute_queue(gpu, index), a, b, y, {Scalar::one, beta}, deps);
  }

  OpId axpby(MemoryId gpu, int64_t m, int64_t n, Scalar alpha, Scalar beta,
             const Deps& deps = {}, int index = 0) {
    const View x = packed(gpu, m, n), y = packed(gpu, m, n);
    return PlanDraft::axpby(compute_queue(gpu, index), x, y, {alpha, beta}, deps);
  }

  OpId join(MemoryId gpu, const Deps& deps, int index = 0) {
    return PlanDraft::join(compute_queue(gpu, index), deps);
  }

 private:
  View packed(MemoryId memory, int64_t rows, int64_t cols) {
    return tile_at(memory, 0, rows, cols, rows);
  }
};

/// two-gpu, with the rates in the file's comment; `change` edits the description first.
inline Topology two_gpu(const std::function<void(Topology::Description&)>& change = {}) {
  auto description = test::shipped("two-gpu").description();
  if (change) change(description);
  return Topology{std::move(description)};
}

inline void remove_engine_limits(Topology::Description& d) {
  for (Memory& memory : d.memories)
    if (memory.processor) memory.processor->engines = {};
}

inline LinkId link_named(const Topology::Description& d, const std::string& name) {
  for (size_t i = 0; i < d.links.size(); ++i)
    if (d.links[i].name == name) return LinkId{i};
  throw std::runtime_error{"no link " + name};
}

/// Memories of two-gpu, in the order of the file.
inline const MemoryId host{0}, gpu0{1}, gpu1{2};

constexpr double us = 1e-6, ms = 1e-3;  // seconds
constexpr int64_t MB = 1'000'000;       // bytes

/// Equal except for rounding of a few sums.
inline void expect_time(double actual, double expected) {
  EXPECT_NEAR(actual, expected, 1e-9 * expected + 1e-12);
}

inline void expect_times(const Timeline& timeline, OpId op, double start, double end) {
  SCOPED_TRACE("operation " + std::to_string(op.value));
  expect_time(timeline.ops[op.index()].start, start);
  expect_time(timeline.ops[op.index()].end, end);
}

}  // namespace tilerail::testing
