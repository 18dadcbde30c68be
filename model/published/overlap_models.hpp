#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "model/published/transfer_time.hpp"

namespace tilerail {

/// A vector (cols = 0) or matrix operand of a routine that one GPU runs in tiles of side
/// T.
struct OverlapOperand {
  double rows = 0, cols = 0;      // elements
  bool get = false, set = false;  // must be copied to the GPU, and back
  TransferTime in = {}, out = {};
  unsigned along = 0;  // bit mask of the routine's dimensions that it has: 1 for the
                       // first, 2 for the second, 4

  double tiles(double tile) const;          // at least 1
  double tile_elements(double tile) const;  // T, or T^2
};

/// A BLAS routine with one, two or three dimensions on one GPU.
struct OverlapProblem {
  std::vector<double> dims;
  std::vector<OverlapOperand> operands;
  Bytes element{8};
  TransferTime h2d, d2h;                  // of the host's link, by direction
  std::function<Seconds(double)> kernel;  // of a sub-kernel with all dimensions T
  Seconds whole_kernel{0};                // of the routine as one kernel, for CSO

  double sub_kernels(double tile) const;  // k, the product of max(1, D / T)
};

/// Models of a routine's time with overlapping transfers and kernels:
///   baseline, dataloc, bts, dr  CoCoPeLia's equations 1, 2, 4 and 5
///   dr2  equation 5 as in its code: sub-kernels by the number of tiles fetched first
///   cso  streams without reuse: van Werkhoven et al., CCGrid 2014, two copy engines
/// docs/model.md#overlap-models
enum class OverlapModel { baseline, dataloc, bts, dr, dr2, cso };
inline constexpr std::array overlap_models{OverlapModel::baseline, OverlapModel::dataloc,
                                           OverlapModel::bts,      OverlapModel::dr,
                                           OverlapModel::dr2,      OverlapModel::cso};
std::string_view to_string(OverlapModel model);

/// With tiles of side T > 0.
Seconds predicted_time(OverlapModel model, const OverlapProblem& problem, double tile);

/// The tile with the smallest predicted time; ties prefer the larger tile. `tiles` must
/// not be empty.
int64_t best_tile(OverlapModel model, const OverlapProblem& problem,
                  std::span<const int64_t> tiles);

}  // namespace tilerail
