#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backends/cuda/run/pending_work.hpp"
#include "backends/cuda/run/staging_chunks.hpp"
#include "backends/executor.hpp"
#include "model/machine/topology.hpp"
#include "model/matrices.hpp"

namespace tilerail {

enum class CudaTrace : uint8_t { none, automatic, cupti, events };

struct CudaOptions {
  CudaTrace trace = CudaTrace::none;  // automatic: CUPTI activity records, or timed
                                      // events where CUPTI does not work
  bool poison = false;  // fill the arenas with NaN before each run: reading what nothing
                        // wrote then shows
  std::vector<int> ordinals;  // CUDA device of each GPU of the topology, by
                              // Topology::gpus(); empty: its number
};

/// What tells the allocations of matrices on hosts from others that have the same
/// addresses at other times; empty where the caller sees to it that there are none.
using AllocationIds = std::vector<uint64_t>;

/// Seconds of one run, as its caller sees it.
struct CudaRunTimes {
  double wall = 0;          // from the call until all results are in place
  double issue = 0;         // of the issuing thread that took longest
  double issue_per_op = 0;  // mean over all operations, of all threads
  double clock_skew =
      0;  // largest error between the clocks of two devices in a traced run
  bool as_graph = false;  // handed over as one graph
};

/// A plan bound to streams, events, handles and arena space, so that running it again
/// allocates and decides nothing. It may be used while its executor lives.
class CudaPlan;

/// Runs plans on CUDA devices. Queues become streams (stream_program.hpp), dependencies
/// between streams events. A device has one arena that lives across calls and, unless the
/// plan has a single issuer, a thread that issues to it. A plan that is to be one graph
/// (`Plan::graph`) is one from its second run on the same matrices on.
class CudaExecutor final : public Executor {
 public:
  /// Opens nothing yet: a device is opened by the first plan, or `reserve`, that names
  /// it. The caller's current device is always left as found. Throws HardwareError when
  /// there is no CUDA device at all.
  explicit CudaExecutor(Topology topology, CudaOptions options = {});
  ~CudaExecutor() override;

  /// Opens devices, with an arena of at least so many bytes and so many compute streams
  /// each, so that plans that need no more find them ready. Throws HardwareError when a
  /// device is not there, InputError when it lacks the memory.
  void reserve(std::span<const MemoryId> gpus, int64_t bytes, int compute_streams);

  /// Bytes that tiles could take on a GPU now, beside what so many compute streams need;
  /// 0 where it cannot be opened.
  int64_t room_for_tiles(MemoryId gpu, int compute_streams);

  /// Binds a plan. Throws InputError when the plan is not valid, is not of this topology,
  /// MemoryShortage when its peak exceeds a device's free memory (naming what would fit),
  /// HardwareError when a device is not there or the plan copies between devices without
  /// peer access.
  std::shared_ptr<CudaPlan> prepare(const Plan& plan);

  /// Runs a bound plan and returns when the results are in place. Throws InputError when
  /// a matrix is missing or not where the plan says, cuda::CudaError naming the operation
  /// that failed; the executor stays usable after it unless the device itself is lost.
  /// Copies of `pageable` matrices, which are not page-locked, go through slots that are
  /// (staging.hpp), which only plans allow that `may_read_ahead` (staging_chunks.hpp).
  /// With `lasting`, the run may be a graph: its copies fail where host memory has been
  /// freed, whatever has the same address since, so that it is one of runs on the same
  /// allocations only.
  CudaRunTimes run(CudaPlan& plan, const Matrices& matrices,
                   cuda::PageableMatrices pageable = {},
                   const std::optional<AllocationIds>& lasting = {});

  /// Hands a bound plan over and returns, within `CudaRunTimes::wall` seconds: the run
  /// comes after all that `callers` hold now and after earlier runs, and what `callers`
  /// are given next comes after it. Matrices on hosts are page-locked; all stay as they
  /// are, and the plan lives, until the run is over. `lasting` as for `run`. Throws what
  /// `run` throws, but a copy or a kernel that fails later is told by `wait` or the next
  /// run. All other members wait first for what was handed over.
  CudaRunTimes submit(CudaPlan& plan, const Matrices& matrices,
                      std::span<const cuda::StreamOnDevice> callers,
                      const std::optional<AllocationIds>& lasting = {});

  /// Waits for all runs that were handed over. Throws CudaError when one failed.
  void wait();

  /// Runs a bound plan of one kernel whose operands are all matrices (api/single_gpu.hpp)
  /// from the calling thread, in the legacy default stream of its GPU, or, where
  /// `own_stream` is set, in one of the executor's. Matrices are not checked: the caller
  /// knows where they are.
  CudaRunTimes run_single(CudaPlan& plan, const Matrices& matrices, bool own_stream);

  /// Runs with trace as the options say, at least `automatic`. Times are since the first
  /// operation began.
  Timeline run_traced(CudaPlan& plan, const Matrices& matrices,
                      CudaRunTimes* times = nullptr);

  /// The matrices of `execute`.
  void set_matrices(const Matrices& matrices);
  Timeline execute(const Plan& plan) override;

  const Topology& topology() const;
  /// CUDA device of a GPU of the topology.
  int ordinal(MemoryId gpu) const;
  /// What records the trace: "CUPTI", "events", or "" before the first traced run.
  std::string tracer() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tilerail
