#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/problem.hpp"

namespace tilerail {

/// How far times are from what a description says, by what they are spent on: half widths of intervals, relative to
/// what it says, that hold this share of what was measured. docs/model.md#intervals
struct Uncertainty {
  static constexpr double level = 0.9;

  struct Kernels {
    DType dtype;
    double measured_shapes;
    double other_shapes;  // so far from any measured one that only the rule of tiled GEMMs speaks of them
  };
  std::vector<Kernels> kernels;  // each type once
  double load = 0;               // of kernels on a device that its load slows down, beside the one above
  double copies = 0;
  double columns = 0;  // of copies in two dimensions, beside the one above
  double issue = 0;
  std::string source = {};  // provenance key

  /// Absent where kernels of the type were not measured.
  std::optional<Kernels> of_kernels(DType dtype) const {
    for (const Kernels& k : kernels)
      if (k.dtype == dtype) return k;
    return std::nullopt;
  }
};

}  // namespace tilerail
