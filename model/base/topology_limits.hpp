#pragma once

#include <cstddef>
#include <cstdint>

#include "model/base/range.hpp"
#include "model/base/units.hpp"

namespace tilerail {

/// Limits of a machine description. They bound the time and memory for hostile files, and
/// keep sizes inside 64-bit integers, route times inside 64-bit picoseconds, and all
/// derived times finite. docs/formats.md#ranges lists them.
struct TopologyLimits {
  static constexpr size_t memories = 8192, vertices = 16384, links = 65536,
                          groups = 16384, routes = 65536;
  static constexpr size_t ways =
      16;  // routes between two memories that copies are split over
  static constexpr int64_t split_parts = 60;  // common multiple of the parts of all pairs
  static constexpr int64_t split_parts_of_hosts = 4096;  // split_parts times the hosts
  static constexpr Range<int> share{1, 16, "1 to 16 parts"};  // of a copy, on one route
  static constexpr size_t points = 4096;                      // per curve
  static constexpr size_t name_length = 128;                  // characters

  static constexpr Range<int> engines{1, 4096, "1 to 4096"};       // per role
  static constexpr Range<int> device{0, 1 << 20, "0 to 1048576"};  // number of a GPU

  static constexpr Range<Bytes> capacity{Bytes{1}, Bytes{1e15}, "1 B to 1 PB"};
  static constexpr Range<Watts> watts{Watts{0}, Watts{1e6}, "0 W to 1 MW"};
  static constexpr Range<Rate> rate{Rate{1e6}, Rate{1e15},
                                    "1 MB/s to 1 PB/s"};  // of links, groups and memories
  static constexpr Range<Seconds> latency{Seconds{0}, Seconds{10},
                                          "0 s to 10 s"};  // of links, kernels and calls
  static constexpr Range<double> copies{
      1, 1e6, "1 to 1000000 copies"};  // number of copies of a capacity
  static constexpr Range<double> forward_share{0.001, 0.999, "a share of 0.001 to 0.999"};
  static constexpr Range<Bytes> column{Bytes{1}, Bytes{1e15},
                                       "1 B to 1 PB"};  // also pitches and their border
  static constexpr Range<double> efficiency{1e-6, 1, "an efficiency of 0.000001 to 1"};

  /// Below 1, so that no interval reaches 0.
  static constexpr Range<double> uncertainty{0, 0.99, "a share of the time, 0 to 0.99"};

  static constexpr Range<double> multiprocessors{1, 1e6, "1 to 1000000"};
  static constexpr Range<double> block{1, 1e12, "1 to 1e12"};           // rows or columns
  static constexpr Range<double> k_overhead{0, 1e6, "0 to 1000000"};    // also `fill`
  static constexpr Range<double> gemm_size{1, 1e9, "1 to 1000000000"};  // a side
  static constexpr Range<int64_t> gemm_extent{1, 1'000'000'000, "1 to 1000000000"};
  static constexpr Range<Seconds> gemm_time{Seconds{1e-18}, Seconds{1e6},
                                            "1e-18 s to 1000000 s"};
  static constexpr Range<FlopRate> flop_rate{FlopRate{1}, FlopRate{1e18},
                                             "1 FLOP/s to 1000 PFLOP/s"};
  static constexpr Range<Watts> gemm_watts{Watts{1e-3}, Watts{1e6}, "1 mW to 1 MW"};
  static constexpr Range<double> duty{0, 1, "a share of the time, 0 to 1"};
  static constexpr Range<double> share_of_lines{0, 1,
                                                "a share of 0 to 1"};  // of page tables
  static constexpr Range<double> factor{
      1, 1000, "a factor of 1 to 1000"};  // for load and alignment
  static constexpr Range<double> alignment{1, 65536, "1 to 65536 bytes"};
};

}  // namespace tilerail
