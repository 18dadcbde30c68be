#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "calibration/mean.hpp"
#include "model/machine/host_pages.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// Simultaneous copies between memories. Memories have the names of the topology: "host",
/// "gpu0", ...
struct TransferRun {
  struct Flow {
    std::string src, dst;
    int in_flight = 1;  // simultaneous copies of this flow, each in a stream of its own
    SampleMean rate;    // B/s of the flow while all flows of the run are busy
  };
  std::string kind;  // "pair", "both ways", "two to GPUs", "all from GPUs", "ring", ...
  HostPages pages = HostPages::spread;
  double copy_bytes = 0;    // of each copy
  double column_bytes = 0;  // of a 2-D copy; 0: packed
  std::vector<Flow> flows;
  SampleMean total;  // B/s of all flows together
};

/// Time of one smallest copy: of many submitted back to back, and of one with a wait for
/// its end.
struct LatencyRun {
  std::string src, dst;
  SampleMean issued, waited;  // seconds
};

/// Larger than the cache of any GPU.
constexpr double fills_any_cache = 512 << 20;  // bytes

/// A 2-D copy compared with a packed copy of the same bytes.
struct StridedRun {
  std::string src, dst;
  double column_bytes = 0, columns = 0;
  double pitch_bytes = 0;  // from one column to the next
  double between_bytes =
      0;  // bytes that kernels read and wrote since the last copy of the same pages
  bool beside = false;             // under load: kernels and opposite copies
  SampleMean strided{}, packed{};  // B/s
};

/// One m x n x k multiplication that ran alone, or several simultaneously in streams of
/// one GPU.
struct KernelRun {
  std::string gpu;
  DType dtype = DType::f64;
  std::string trans = "NN";
  long long m = 0, n = 0, k = 0;
  int at_once = 1;  // concurrent streams of this kernel
  int alignment =
      0;  // bytes that divide the columns of all operands; 0: every relevant alignment
  double duty = 1;     // share of the time that the GPU was busy
  SampleMean seconds;  // of one kernel; of several: total time / number
  SampleMean issue{};  // host time to submit one kernel; 0 samples: not measured
  /// Mean watts during the run, and the seconds between the first and the last step of
  /// the energy counter; 0: not measured. Older files have watts without the seconds;
  /// such watts may be off by half.
  double watts = 0, watts_seconds = 0;
};

/// A rested device that runs one square multiplication after another, without a pause.
struct LoadSeries {
  std::string gpu;
  DType dtype = DType::f64;
  long long size = 0;
  struct Point {
    double at, seconds;  // end since the start; time of each kernel that ended
  };
  std::vector<Point> points;
};

/// Element-wise work limited by device memory: bytes read and written per second.
struct MemoryRun {
  std::string gpu;
  SampleMean rate;  // B/s
};

/// A square product by all cores of the host together.
struct CoreRun {
  DType dtype = DType::f64;
  long long size = 0;
  SampleMean seconds;
};

/// Host time to submit work.
struct IssueRun {
  // "copy", "2-D copy", "gemm", "record and wait", or "call" (start threads and wait for
  // all); for graphs, as in GraphCost: "graph call", "graph copy", "graph kernel", "graph
  // dependency" and "graph of GPUs"; "hand on" (event latency)
  std::string what;
  int threads = 1;     // threads that submit simultaneously, each to its own device
  SampleMean seconds;  // of one call, in one thread
};

/// Device properties from the driver.
struct DeviceRecord {
  std::string name;  // "gpu0"
  int number = 0;
  std::string model;  // name from the driver
  double memory_bytes = 0;
  int multiprocessors = 0;
  double idle_watts = 0, limit_watts = 0;  // 0: not measured
};

/// All measurements of one machine. The fit needs no other input, so it can be repeated
/// and tested without the machine.
struct Measurements {
  std::string machine, date, command;
  double host_bytes = 0;
  std::vector<DeviceRecord> devices;
  std::vector<LatencyRun> latencies;
  std::vector<TransferRun> transfers;
  std::vector<StridedRun> strided;
  std::vector<KernelRun> kernels;
  std::vector<KernelRun> graph_kernels;  // submitted as one graph; absent in older files
  std::vector<LoadSeries> loads;         // absent in older files
  std::vector<MemoryRun> memory;
  std::vector<CoreRun> cores;  // by dtype and ascending size; empty: not measured
  std::vector<IssueRun> issue;
};

/// JSON (docs/formats.md#measurements).
std::string to_json(const Measurements& measurements);
/// Throws InputError with the file, the JSON path, the value and the expectation.
Measurements measurements_from_json(std::string_view json, const std::string& file);

}  // namespace tilerail
