#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/base/units.hpp"
#include "model/kernels/tiled_gemm.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// What GEMMs of one dtype and one pair of transposes ("" = any) cost: rates of squares
/// (s x s x s) by size, or how the library tiles them. Sizes ascend; rates are flop/s of
/// 2 s^3.
struct GemmCurve {
  DType dtype = DType::f64;
  std::string
      trans;  // "NN", "NT", "TN", "TT", or "" for every pair that has no curve of its own
  struct Point {
    double size;
    FlopRate rate;
  };
  std::vector<Point> points;  // empty exactly when `tiled` is there
  std::optional<TiledGemm> tiled =
      {};  // where it is there, the table has a memory bandwidth, too

  /// How much longer kernels take on a device that is busy for a share of the time: power
  /// and heat are limited.
  struct Load {
    double duty;    // in [0, 1], ascending
    double factor;  // at least 1
  };
  std::vector<Load> sustained = {};  // linear between, constant beyond; empty: 1
  Seconds sustained_after{0};        // of such load, after which it is felt
  double sustained_at_first =
      1;  // the part of the rise that is felt until `sustained_fully_after`, in [0, 1]
  Seconds sustained_fully_after{0};  // counts where it is later than `sustained_after`

  /// How much longer kernels take on columns that are multiples of only so many bytes.
  struct Alignment {
    double bytes;   // ascending powers of two
    double factor;  // at least 1
  };
  std::vector<Alignment> alignment = {};  // 1 for multiples of more than the last
  std::optional<Watts> watts =
      {};  // that a device draws which these kernels fill; absent: its busy watts
  std::string source = {};  // provenance key

  /// The largest rate; the peak of tiled GEMMs.
  FlopRate fastest() const;
  /// How much longer kernels take while the device is busy for this share of the time, in
  /// [0, 1].
  double load_factor(double duty) const;
  /// The same while load is felt in part.
  double load_factor_at_first(double duty) const {
    return 1 + sustained_at_first * (load_factor(duty) - 1);
  }
  /// The same over a call that takes `time` and follows `calls_before` like it without a
  /// pause, on a device that rested before them: load is felt in the part of it that lies
  /// behind `sustained_after`, and at first in part.
  double load_factor(double duty, Seconds time, double calls_before) const;

  /// Shares of `time` from `begin` on in which load is not felt, felt in part, and felt.
  struct Phases {
    double rested, first, full;
  };
  Phases phases(Seconds begin, Seconds time) const;
};

/// What a kernel costs on one kind of device. Built by the topology reader from a
/// `[kernels.NAME]` table.
struct KernelTimes {
  std::string name;
  std::string source;          // provenance key
  Seconds launch{0};           // fixed cost of any kernel
  double multiprocessors = 1;  // how many thread blocks run at once
  double block_m = 128,
         block_n = 128;   // rows and columns of C that one thread block computes
  double k_overhead = 0;  // pipeline fill of a GEMM's k loop, in units of k
  std::optional<Rate> memory_bandwidth;  // device memory, for memory-bound kernels
  std::vector<GemmCurve> gemm;

  /// Time of one m x n x k GEMM alone on the device (rule: docs/model.md#kernel-times).
  /// Zero when m or n is zero. Throws InputError when the table has no curve for the
  /// dtype.
  Seconds gemm_time(int64_t m, int64_t n, int64_t k, DType dtype, Trans ta,
                    Trans tb) const;

  /// The rate that no GEMMs of the device exceed, alone or side by side. Throws as
  /// gemm_time.
  FlopRate peak(DType dtype, Trans ta, Trans tb) const;
  /// And that no GEMMs exceed whose result has one row or column.
  FlopRate peak_of_vectors(DType dtype, Trans ta, Trans tb) const;
  /// And the bytes a second that they read and write at most, each operand once; absent
  /// where that is not known.
  std::optional<Rate> peak_memory_rate(DType dtype, Trans ta, Trans tb) const;

  /// Time of y = alpha x + beta y on m x n elements, bound by device memory; `reads` and
  /// `writes` of m x n elements.
  Seconds axpby_time(int64_t m, int64_t n, DType dtype, int reads, int writes) const;

  /// Share of the device that the thread blocks of an m x n result take, in (0, 1]:
  /// min(1, blocks / multiprocessors).
  double occupancy(int64_t m, int64_t n) const;
  /// The share that a GEMM fills: that of its thread blocks, among which k may be split,
  /// but no less than its rate is of the device's peak, or the bytes that it moves in a
  /// second of the memory bandwidth: kernels side by side are together no faster than the
  /// device. Where the result has one row or column, a thread block reads as many
  /// elements as it computes elsewhere. Zero when m or n is zero. Throws as gemm_time.
  double gemm_occupancy(int64_t m, int64_t n, int64_t k, DType dtype, Trans ta,
                        Trans tb) const;
  /// Time and share of a GEMM in a graph, where the table tells what is different there;
  /// arguments and errors as of gemm_time.
  TiledGemm::Cost gemm_in_graph(int64_t m, int64_t n, int64_t k, DType dtype, Trans ta,
                                Trans tb) const;
  /// The share that an axpby fills, by the same rule; arguments as of axpby_time.
  double axpby_occupancy(int64_t m, int64_t n, DType dtype, int reads, int writes) const;

  /// What handing such a GEMM over costs; absent where the table does not say, or for
  /// results of one row or column.
  std::optional<Seconds> gemm_issue(int64_t m, int64_t n, int64_t k, DType dtype,
                                    Trans ta, Trans tb) const;
  /// The curve that counts for such GEMMs: that of the pair of transposes, else the one
  /// for any pair. Throws as gemm_time.
  const GemmCurve& curve(DType dtype, Trans ta, Trans tb) const;
  /// The device as tiled GEMMs of a type see it; it has a memory bandwidth.
  TiledGemm::Device tiled_device(DType dtype) const;
  /// Share of the device that runs at the rates of the table: all of it, but where a
  /// thread block holds any result, as that of a host's worker does. Such a device runs
  /// one kernel a multiprocessor at these rates.
  double share_at_peak() const;
  /// Whether there are times of such GEMMs.
  bool knows(DType dtype, Trans ta, Trans tb) const;
  /// The watts of a device that such GEMMs fill all the time; absent where the file does
  /// not say.
  std::optional<Watts> gemm_watts(DType dtype, Trans ta, Trans tb) const;
  /// Factor on the time of a GEMM whose operands start at, and whose columns are,
  /// multiples of so many bytes.
  double alignment_factor(DType dtype, Trans ta, Trans tb, double bytes) const;
};

}  // namespace tilerail
