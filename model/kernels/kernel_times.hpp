#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/units.hpp"
#include "model/kernels/tiled_gemm.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// Kernels of factorisations on tiles; in plans, they follow the other kinds in this
/// order.
inline constexpr std::array<std::string_view, 7> tile_kernels{
    "potrf", "trsm", "syrk", "geqrt", "ormqr", "tsqrt", "tsmqr"};

/// Times of GEMMs with one dtype and one pair of transposes ("" = any): rates of squares
/// (s x s x s) by size, or the library's tiling. Sizes ascend; rates are flop/s of 2 s^3.
struct GemmCurve {
  DType dtype = DType::f64;
  std::string
      trans;  // "NN", "NT", "TN", "TT", or "" for all pairs without a curve of their own
  struct Point {
    double size;
    FlopRate rate;
  };
  std::vector<Point> points;            // empty exactly if `tiled` has a value
  std::optional<TiledGemm> tiled = {};  // requires a memory bandwidth in the table

  /// Slowdown of kernels on a device that is busy for a share of the time, because power
  /// and heat are limited.
  struct Load {
    double duty;    // in [0, 1], ascending
    double factor;  // at least 1
  };
  std::vector<Load> sustained = {};  // linear between, constant beyond; empty: 1
  Seconds sustained_after{0};        // duration of load before the slowdown starts
  double sustained_at_first =
      1;  // share of the slowdown until `sustained_fully_after`, in [0, 1]
  Seconds sustained_fully_after{0};  // effective if later than `sustained_after`

  /// Slowdown of kernels with columns that are multiples of only this many bytes.
  struct Alignment {
    double bytes;   // ascending powers of two
    double factor;  // at least 1
  };
  std::vector<Alignment> alignment = {};  // 1 above the last alignment
  std::optional<Watts> watts =
      {};  // of a device that is always busy with these kernels; absent: its busy watts
  struct TileTime {
    double size;
    Seconds time;
  };
  /// Times of other kernels on tiles of size x size, by number in `tile_kernels`.
  std::array<std::vector<TileTime>, tile_kernels.size()> tiles = {};
  std::string source = {};  // provenance key

  /// Time of one of these kernels on tiles of `size`, of which less than the smallest
  /// measured size takes time in proportion; absent without measurements.
  std::optional<Seconds> tile_time(size_t kernel, double size) const;
  /// The largest rate; for tiled GEMMs, their peak.
  FlopRate fastest() const;
  /// Slowdown of kernels while the device is busy for this share of the time, in [0, 1].
  double load_factor(double duty) const;
  /// Slowdown in the first phase of load.
  double load_factor_at_first(double duty) const {
    return 1 + sustained_at_first * (load_factor(duty) - 1);
  }
  /// Mean slowdown of a call of length `time` that follows `calls_before` equal calls
  /// without a pause, on a device that rested before them: the slowdown starts
  /// `sustained_after` after the begin of the first call, first in part.
  double load_factor(double duty, Seconds time, double calls_before) const;

  /// Shares of `time` from `begin` on without, with partial, and with full slowdown.
  struct Phases {
    double rested, first, full;
  };
  Phases phases(Seconds begin, Seconds time) const;
};

/// Times of kernels on one kind of device. Created by the topology reader from a
/// `[kernels.NAME]` table.
struct KernelTimes {
  std::string name;
  std::string source;          // provenance key
  Seconds launch{0};           // fixed cost of any kernel
  Seconds regain{0};           // added to kernels that start while the device is idle
  double multiprocessors = 1;  // number of concurrent thread blocks
  double block_m = 128,
         block_n = 128;   // rows and columns of C per thread block
  double k_overhead = 0;  // pipeline fill of a GEMM's k loop, in units of k
  std::optional<Rate> memory_bandwidth;  // device memory, for memory-bound kernels
  std::vector<GemmCurve> gemm;

  /// Time of one m x n x k GEMM alone on the device (rule: docs/model.md#kernel-times).
  /// Zero if m or n is zero. Throws InputError if the table has no curve for the dtype.
  Seconds gemm_time(int64_t m, int64_t n, int64_t k, DType dtype, Trans ta,
                    Trans tb) const;

  /// Upper limit of the rate of GEMMs on the device, alone or concurrent. Throws like
  /// gemm_time.
  FlopRate peak(DType dtype, Trans ta, Trans tb) const;
  /// The same for GEMMs whose result has one row or column.
  FlopRate peak_of_vectors(DType dtype, Trans ta, Trans tb) const;
  /// Upper limit of bytes per second that they read and write, each operand once; absent
  /// if unknown.
  std::optional<Rate> peak_memory_rate(DType dtype, Trans ta, Trans tb) const;

  /// Time of y = alpha x + beta y on m x n elements, limited by device memory; `reads`
  /// and `writes` count m x n elements each.
  Seconds axpby_time(int64_t m, int64_t n, DType dtype, int reads, int writes) const;

  /// Share of the device that is occupied by the thread blocks of an m x n result, in (0,
  /// 1]: min(1, blocks / multiprocessors).
  double occupancy(int64_t m, int64_t n) const;
  /// Share of the device that a GEMM occupies: the share of its thread blocks, which may
  /// split k, but at least its rate as a share of the device's peak or of the memory
  /// bandwidth, because concurrent kernels together are never faster than the device. For
  /// a result with one row or column, a thread block reads as many elements as it
  /// computes in other GEMMs. Zero if m or n is zero. Throws like gemm_time.
  double gemm_occupancy(int64_t m, int64_t n, int64_t k, DType dtype, Trans ta,
                        Trans tb) const;
  /// Time and share of a GEMM in a graph, if the table has data for graphs; arguments and
  /// errors as for gemm_time.
  TiledGemm::Cost gemm_in_graph(int64_t m, int64_t n, int64_t k, DType dtype, Trans ta,
                                Trans tb) const;
  /// The share that an axpby occupies, by the same rule; arguments as for axpby_time.
  double axpby_occupancy(int64_t m, int64_t n, DType dtype, int reads, int writes) const;

  /// Time to submit the GEMM; absent if the table lacks it, or for results with one row
  /// or column.
  std::optional<Seconds> gemm_issue(int64_t m, int64_t n, int64_t k, DType dtype,
                                    Trans ta, Trans tb) const;
  /// The curve for such GEMMs: of their pair of transposes, else of any pair. Throws like
  /// gemm_time.
  const GemmCurve& curve(DType dtype, Trans ta, Trans tb) const;
  /// The device for tiled GEMMs of a type; it must have a memory bandwidth.
  TiledGemm::Device tiled_device(DType dtype) const;
  /// Share of the device that runs at the rates of the table: 1, unless one thread block
  /// computes any result (a host's worker). Such a device runs one kernel per
  /// multiprocessor at these rates.
  double share_at_peak() const;
  /// Whether the table has times of such GEMMs.
  bool has_times(DType dtype, Trans ta, Trans tb) const;
  /// The watts of a device that is always busy with such GEMMs; absent if the file lacks
  /// them.
  std::optional<Watts> gemm_watts(DType dtype, Trans ta, Trans tb) const;
  /// Slowdown of a GEMM whose operand starts and columns are multiples of this many
  /// bytes.
  double alignment_factor(DType dtype, Trans ta, Trans tb, double bytes) const;
};

}  // namespace tilerail
