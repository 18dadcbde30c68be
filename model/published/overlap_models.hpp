#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "model/published/transfer_time.hpp"

namespace tilerail {

/// An operand, vector (cols = 0) or matrix, of a routine that one GPU runs in tiles of
/// side T.
struct OverlapOperand {
  double rows = 0, cols = 0;      // elements
  bool get = false, set = false;  // has to be brought to the GPU, taken back
  TransferTime in = {}, out = {};
  unsigned along = 0;  // the dimensions of the routine that it has: 1 for the first, 2
                       // for the second, 4

  double tiles(double tile) const;          // at least 1
  double tile_elements(double tile) const;  // T, or T^2
};

/// A BLAS routine with one, two or three dimensions on one GPU.
struct OverlapProblem {
  std::vector<double> dims;
  std::vector<OverlapOperand> operands;
  Bytes element{8};
  TransferTime h2d, d2h;                  // of the host's link
  std::function<Seconds(double)> kernel;  // of a sub-kernel with all dimensions T
  Seconds whole_kernel{0};                // of the routine as one kernel, for CSO

  double sub_kernels(double tile) const;  // k, the product of max(1, D / T)
};

/// Predictions of a routine's time with its transfers and kernels overlapped:
///   baseline, dataloc, bts, dr  CoCoPeLia's equations 1, 2, 4 and 5
///   dr2                         as its code has eq. 5: sub-kernels by how many tiles
///   each is the first to need cso                         streams without reuse: van
///   Werkhoven et al., CCGrid 2014, two copy engines
/// docs/model.md#overlap-models
enum class OverlapModel { baseline, dataloc, bts, dr, dr2, cso };
inline constexpr std::array overlap_models{OverlapModel::baseline, OverlapModel::dataloc,
                                           OverlapModel::bts,      OverlapModel::dr,
                                           OverlapModel::dr2,      OverlapModel::cso};
std::string_view to_string(OverlapModel model);

/// With tiles of side T > 0.
Seconds predicted_time(OverlapModel model, const OverlapProblem& problem, double tile);

/// The tile of the least predicted time; the larger one of equals. `tiles` is not empty.
int64_t best_tile(OverlapModel model, const OverlapProblem& problem,
                  std::span<const int64_t> tiles);

}  // namespace tilerail
