#pragma once

#include <algorithm>
#include <span>
#include <string>

namespace tilerail {

/// The GPUs as an r x c grid; C is cut in r x c contiguous blocks, one per GPU, numbered
/// row by row. With several layers, each is such a grid for its own part of k; GPUs are
/// numbered layer by layer.
struct Grid {
  int rows = 1, cols = 1, layers = 1;

  int gpus() const { return rows * cols * layers; }
  /// "2x4", or "2x2x2" with two layers.
  std::string text() const {
    const std::string plane = std::to_string(rows) + "x" + std::to_string(cols);
    return layers == 1 ? plane : plane + "x" + std::to_string(layers);
  }
  friend bool operator==(const Grid&, const Grid&) = default;
};

/// Whether all devices have the same share.
inline bool all_equal(std::span<const double> shares) {
  return std::ranges::all_of(shares,
                             [&](double share) { return share == shares.front(); });
}

}  // namespace tilerail
