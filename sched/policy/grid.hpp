#pragma once

#include <algorithm>
#include <span>

namespace tilerail {

/// The GPUs as an r x c grid; C is cut in r x c contiguous blocks, one a GPU, numbered row by row.
struct Grid {
  int rows = 1, cols = 1;
  friend bool operator==(const Grid&, const Grid&) = default;
};

/// Whether all devices have the same share.
inline bool all_equal(std::span<const double> shares) {
  return std::ranges::all_of(shares, [&](double share) { return share == shares.front(); });
}

}  // namespace tilerail
