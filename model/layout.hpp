#pragma once

#include <compare>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "model/base/ids.hpp"

namespace tilerail {

/// Parts in each dimension, and replicas of all of them.
struct LayoutGrid {
  int rows = 1, cols = 1, replicas = 1;
  size_t members() const { return size_t(rows) * size_t(cols) * size_t(replicas); }
  auto operator<=>(const LayoutGrid&) const = default;
};

/// How one dimension of a matrix is cut into intervals, each of which belongs to one
/// coordinate of the grid.
struct LayoutCuts {
  int64_t block = 0;  // intervals of this size, assigned to the coordinates in turn; 0:
                      // one interval of nearly equal size for each coordinate
  /// The first elements of all intervals but the first, ascending, and the coordinate of
  /// each interval. Empty: as `block` says.
  std::vector<int64_t> borders = {};
  std::vector<int> coordinates = {};

  auto operator<=>(const LayoutCuts&) const = default;
};

/// `parts` + 1 numbers from 0 to `extent`: the borders of equal parts, rounded to the
/// nearest multiples of an alignment unit. Parts differ from equal ones by at most one
/// unit. The unit is 64 if equal parts have at least eight units, else 1.
std::vector<int64_t> even_borders(int64_t extent, int parts);

/// Rows [row, row + rows) and columns [col, col + cols) of a stored matrix, in one
/// memory.
struct MatrixBlock {
  MemoryId memory;
  int64_t row = 0, col = 0, rows = 0, cols = 0;
};

/// The memories that hold a matrix: a value, equal if and only if it describes the same
/// owners for every size. Block (i, j) of replica r belongs to
///   members[row coordinate of i + rows * (column coordinate of j + cols * r)].
/// The idea comes from COSTA's assigned grid; there is no table of owners.
/// docs/model.md#layouts
class Layout {
 public:
  /// The whole matrix in one memory.
  Layout(MemoryId memory = {}) : first_{memory} {}
  /// Throws InputError if the numbers of members, intervals or coordinates do not match.
  Layout(LayoutGrid grid, const LayoutCuts& rows, const LayoutCuts& cols,
         std::vector<MemoryId> members);
  /// One interval of rows, or of columns, for each member.
  static Layout of_rows(std::vector<MemoryId> members);
  static Layout of_columns(std::vector<MemoryId> members);
  /// The whole matrix in each member.
  static Layout replicated(std::vector<MemoryId> members);
  /// ScaLAPACK's: blocks of `rows` x `cols` elements assigned to a grid in turn.
  static Layout block_cyclic(LayoutGrid grid, int64_t rows, int64_t cols,
                             std::vector<MemoryId> members);

  bool is_whole() const { return !parts_; }
  /// Whether the whole matrix lies in this memory, and nowhere else.
  bool is_whole_in(MemoryId memory) const { return !parts_ && first_ == memory; }
  /// Whether every member has the whole matrix.
  bool is_replicated() const { return parts_ && replicas() == members().size(); }
  bool has(MemoryId memory) const;
  /// Whether the memory has the whole matrix.
  bool has_all_in(MemoryId memory) const {
    return is_whole_in(memory) || (is_replicated() && has(memory));
  }
  /// The memory of a whole matrix; otherwise the first member.
  MemoryId home() const { return first_; }
  /// Never empty; in the order of the formula above.
  std::span<const MemoryId> members() const {
    return parts_ ? std::span{parts_->members} : std::span{&first_, 1};
  }
  size_t replicas() const { return parts_ ? size_t(parts_->grid.replicas) : 1; }
  LayoutGrid grid() const { return parts_ ? parts_->grid : LayoutGrid{}; }
  LayoutCuts row_cuts() const { return parts_ ? parts_->rows : LayoutCuts{}; }
  LayoutCuts col_cuts() const { return parts_ ? parts_->cols : LayoutCuts{}; }

  /// The nonempty blocks of one replica of a rows x cols matrix, column by column; a
  /// whole matrix is one block, even if it is empty.
  std::vector<MatrixBlock> blocks(int64_t rows, int64_t cols, size_t replica = 0) const;

  /// Number of the blocks of all replicas, at most; plans have no more than
  /// `most_blocks`.
  double count_blocks(int64_t rows, int64_t cols) const;
  static constexpr double most_blocks = 1e5;

  bool operator==(const Layout& other) const { return (*this <=> other) == 0; }
  std::strong_ordering operator<=>(const Layout& other) const;

 private:
  struct Parts {
    LayoutGrid grid;
    LayoutCuts rows, cols;
    std::vector<MemoryId> members;
    auto operator<=>(const Parts&) const = default;
  };

  MemoryId first_;
  std::shared_ptr<const Parts> parts_;  // null: whole
};

}  // namespace tilerail
