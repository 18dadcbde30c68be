#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "plan/plan.hpp"
#include "report/timeline/string_table.hpp"

namespace tilerail {

/// Names the region of the user's matrices that each operation works on: what a copy moves, what a kernel updates. It
/// follows tiles through the plan: a copy passes on where its data came from, and a kernel's result belongs to the rows
/// of op(A) and the columns of op(B). One pass in issue order suffices, because every write that an operation can see
/// has a lower id.
class RegionLabels {
 public:
  explicit RegionLabels(const Plan& plan);

  /// Label of the next operation: call it once for each, in order. Regions are half-open, and rows and columns are
  /// those of the matrix as stored.
  uint32_t next(const Op& op, StringTable& labels);

 private:
  /// Element (r, c) of a buffer is element (r + row, c + col) of the matrix.
  struct Origin {
    Buffer::Kind matrix;
    int64_t row, col;
  };
  struct Region {
    Buffer::Kind matrix;
    int64_t row, col, rows, cols;
    bool operator==(const Region&) const = default;
  };
  struct RegionHash {
    size_t operator()(const Region& region) const;
  };

  std::optional<Region> region_of(const View& view) const;
  void remember(const View& view, const std::optional<Region>& region);
  std::optional<Region> result_of(const Op& op) const;

  const Plan& plan_;
  std::vector<std::optional<Origin>> origins_;  // by BufferId
  std::unordered_map<Region, uint32_t, RegionHash> known_;
};

}  // namespace tilerail
