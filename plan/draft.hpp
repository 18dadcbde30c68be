#pragma once

#include <cstdint>
#include <vector>

#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// Puts a plan together by hand, operation by operation, with no policy: calibration and tests say exactly what runs.
class PlanDraft {
 public:
  /// The problem's matrices become buffers.
  PlanDraft(const Topology& topology, const GemmProblem& problem);
  /// Operations of no problem, on tiles of one type; there are no matrices.
  explicit PlanDraft(const Topology& topology, DType dtype = DType::f64);

  QueueId compute_queue(MemoryId gpu, int index = 0);
  QueueId copy_queue(MemoryId src, MemoryId dst, int index = 0);

  View a() const { return whole(BufferId{0}); }
  View b() const { return whole(BufferId{1}); }
  View c() const { return whole(BufferId{2}); }
  /// Packed, behind the tiles before it, from a 64-byte boundary.
  View tile(MemoryId memory, int64_t rows, int64_t cols);
  /// So many bytes behind the start of the memory's tiles, wherever others are; columns are `ld` elements apart.
  View tile_at(MemoryId memory, int64_t offset, int64_t rows, int64_t cols, int64_t ld);

  struct Scalars {
    Scalar alpha = Scalar::one, beta = Scalar::zero;
  };
  using Deps = std::vector<OpId>;
  OpId copy(QueueId queue, const View& from, const View& to, const Deps& deps = {});
  /// Transposes are the problem's.
  OpId gemm(QueueId queue, const View& a, const View& b, const View& y, Scalars scalars, const Deps& deps = {});
  OpId axpby(QueueId queue, const View& x, const View& y, Scalars scalars, const Deps& deps = {});
  OpId join(QueueId queue, const Deps& deps);
  /// Any operation, as it is.
  OpId add(const Op& op, const Deps& deps = {});

  Plan plan;  // so far

 private:
  View whole(BufferId buffer) const;
  QueueId queue(const Queue& queue);
};

/// Rows [row, row + rows) and columns [col, col + cols) of a view.
View part(const View& view, int64_t row, int64_t col, int64_t rows, int64_t cols);

}  // namespace tilerail
