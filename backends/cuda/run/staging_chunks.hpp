#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/plan.hpp"

namespace tilerail::cuda {

/// To a GPU, or from one.
enum class Direction : uint8_t { in, out };

/// The matrices in pageable memory.
struct PageableMatrices {
  bool a = false, b = false, c = false;

  bool any() const { return a || b || c; }
  bool has(const Buffer& buffer) const {
    return !buffer.in_arena &&
           ((a && buffer.tensor == tensor_a) || (b && buffer.tensor == tensor_b) ||
            (c && buffer.tensor == tensor_c));
  }
};

/// Part of a copy between pageable memory and a GPU: all rows of some columns, or some
/// rows of one.
struct StagingChunk {
  OpId op;
  std::byte* host;
  int64_t pitch;       // bytes between columns of the host's memory
  int64_t row, col;    // start in the copy's views
  int64_t rows, cols;  // elements
  int64_t element;     // bytes
  int64_t width() const {
    return rows * element;
  }  // bytes; columns in a slot are contiguous
};

/// The copies of a plan from and to pageable matrices, in chunks of at most `slot_bytes`,
/// in the order of the plan.
class StagingChunks {
 public:
  /// `starts`: start of each buffer of the plan.
  StagingChunks(const Plan& plan, PageableMatrices pageable,
                std::span<std::byte* const> starts, int64_t slot_bytes);

  const std::vector<StagingChunk>& of(Direction direction) const {
    return chunks_[size_t(direction)];
  }

  struct Part {
    Direction direction = Direction::in;
    size_t begin = 0, end = 0;  // of its chunks; empty if the operation is not such a
                                // copy
  };
  Part of(OpId op) const { return parts_[op.index()]; }

 private:
  void add(Direction direction, const Plan& plan, OpId op, const View& host,
           std::span<std::byte* const> starts, int64_t slot_bytes);

  std::array<std::vector<StagingChunk>, 2> chunks_;
  std::vector<Part> parts_;  // by operation
};

/// Whether chunks can be read ahead of their copies and written behind them: the plan
/// neither reads nor writes a part of C on the host that it has written before.
bool may_read_ahead(const Plan& plan, const Topology& topology);

}  // namespace tilerail::cuda
