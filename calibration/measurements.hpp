#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "calibration/mean.hpp"
#include "model/machine/host_pages.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// Copies between memories that run at the same time. Memories are named as in the
/// topology: "host", "gpu0", ...
struct TransferRun {
  struct Flow {
    std::string src, dst;
    int in_flight = 1;  // copies of this flow that run at once, on as many streams
    Measured rate;      // B/s of the flow while all flows of the run are busy
  };
  std::string kind;  // "pair", "both ways", "two to GPUs", "all from GPUs", "ring", ...
  HostPages pages = HostPages::spread;
  double copy_bytes = 0;    // of each copy
  double column_bytes = 0;  // of a 2-D copy; 0: packed
  std::vector<Flow> flows;
  Measured total;  // B/s of all flows together
};

/// Time of one smallest copy, of many handed over back to back, and of one that is waited
/// for.
struct LatencyRun {
  std::string src, dst;
  Measured issued, waited;  // seconds
};

/// More than the cache of any GPU holds.
constexpr double fills_any_cache = 512 << 20;  // bytes

/// A 2-D copy against the same bytes packed.
struct StridedRun {
  std::string src, dst;
  double column_bytes = 0, columns = 0;
  double pitch_bytes = 0;  // from one column to the next
  double between_bytes =
      0;  // that kernels read and wrote since the last copy of the same pages
  bool beside = false;           // kernels, and the same copies the other way
  Measured strided{}, packed{};  // B/s
};

/// One m x n x k multiplication that ran alone, or several at once on streams of one GPU.
struct KernelRun {
  std::string gpu;
  DType dtype = DType::f64;
  std::string trans = "NN";
  long long m = 0, n = 0, k = 0;
  int at_once = 1;  // streams that run this kernel side by side
  int alignment =
      0;  // bytes that columns of all operands are multiples of; 0: of all that matter
  double duty = 1;   // share of the time that the GPU was kept busy
  Measured seconds;  // of one kernel; of all together divided by their number when
                     // several ran at once
  Measured issue{};  // of a host thread that hands one over; 0 samples: not measured
  /// Mean watts meanwhile, and the seconds from the first to the last step of the energy
  /// counter between which they were counted; 0: not measured. Older files have watts
  /// without those seconds, which may be off by half.
  double watts = 0, watts_seconds = 0;
};

/// A device that rested and then runs one square multiplication after another, without a
/// pause.
struct LoadSeries {
  std::string gpu;
  DType dtype = DType::f64;
  long long size = 0;
  struct Point {
    double at, seconds;  // since the start, when some of them were done; of each of them
  };
  std::vector<Point> points;
};

/// Element-wise work bound by device memory: bytes read and written over time.
struct MemoryRun {
  std::string gpu;
  Measured rate;  // B/s
};

/// What it costs a host thread to hand work over.
struct IssueRun {
  // "copy", "2-D copy", "gemm", "record and wait", or "call": starting threads and
  // waiting for all; of graphs, "graph call", "graph copy", "graph kernel", "graph
  // dependency" and "graph of GPUs", as in GraphCost; "hand on"
  std::string what;
  int threads = 1;   // that issued at once, each to a device of its own
  Measured seconds;  // of one call, in one thread
};

/// What the driver tells of a device.
struct DeviceRecord {
  std::string name;  // "gpu0"
  int number = 0;
  std::string model;  // as the driver names it
  double memory_bytes = 0;
  int multiprocessors = 0;
  double idle_watts = 0, limit_watts = 0;  // 0: not measured
};

/// Everything that calibration measured on one machine. The fit needs nothing else, so it
/// can be repeated and tested without the machine.
struct Measurements {
  std::string machine, date, command;
  double host_bytes = 0;
  std::vector<DeviceRecord> devices;
  std::vector<LatencyRun> latencies;
  std::vector<TransferRun> transfers;
  std::vector<StridedRun> strided;
  std::vector<KernelRun> kernels;
  std::vector<KernelRun>
      graph_kernels;              // handed over as one graph; older files have none
  std::vector<LoadSeries> loads;  // older files have none
  std::vector<MemoryRun> memory;
  std::vector<IssueRun> issue;
};

/// JSON (docs/formats.md#measurements).
std::string to_json(const Measurements& measurements);
/// Throws InputError naming the file, the JSON path, the value and what was expected.
Measurements measurements_from_json(std::string_view json, const std::string& file);

}  // namespace tilerail
