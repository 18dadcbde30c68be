#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
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
#include "plan/plan.hpp"

namespace tilerail {

/// Runs an operation on the threads of the host. `buffers`: start of each buffer of the
/// plan.
using HostFunction = std::function<void(const Plan& plan, const Op& op,
                                        std::span<std::byte* const> buffers)>;

enum class CudaTrace : uint8_t { none, automatic, cupti, events };

struct CudaOptions {
  CudaTrace trace = CudaTrace::none;  // automatic: CUPTI activity records, or timed
                                      // events if CUPTI does not work
  bool poison = false;  // fill the arenas with NaN before each run, to detect reads of
                        // unwritten bytes
  std::vector<int> ordinals;  // CUDA device of each GPU of the topology, by
                              // Topology::gpus(); empty: the GPU's number
  HostFunction on_host = {};  // for kernels of cores and copies between hosts; empty:
                              // plans with such operations are refused
};

/// Distinguishes allocations of matrices on hosts from earlier or later allocations at
/// the same addresses; empty if the caller guarantees that no such allocations exist.
using AllocationIds = std::vector<uint64_t>;

/// Seconds of one run, as measured by the caller.
struct CudaRunTimes {
  double wall = 0;          // from the call until all results are stored
  double issue = 0;         // of the slowest issuing thread
  double issue_per_op = 0;  // mean over all operations and threads
  double clock_skew =
      0;  // largest difference between the clocks of two devices in a traced run
  bool as_graph = false;  // submitted as one graph
};

/// A plan bound to streams, events, handles and arena space, so that running it again
/// allocates nothing and decides nothing. Valid while its executor lives.
class CudaPlan;

/// Runs plans on CUDA devices. Queues become streams (stream_program.hpp), dependencies
/// between streams become events. A device has one arena that lives across calls and,
/// unless the plan has a single issuer, an issuing thread. A plan with `Plan::graph` runs
/// as one graph from its second run on the same matrices on.
class CudaExecutor final : public Executor {
 public:
  /// Opens no device yet: the first plan, or `reserve`, that names a device opens it. The
  /// caller's current device never changes. Throws HardwareError without CUDA
  /// devices.
  explicit CudaExecutor(Topology topology, CudaOptions options = {});
  ~CudaExecutor() override;

  /// Opens devices, each with an arena of at least `bytes` and with `compute_streams`
  /// streams, so that later plans within these limits need not wait. Throws HardwareError
  /// if a device does not exist, InputError if it lacks memory.
  void reserve(std::span<const MemoryId> gpus, int64_t bytes, int compute_streams);

  /// Bytes available for tiles on a GPU now, in addition to the needs of
  /// `compute_streams` streams; 0 if it cannot be opened.
  int64_t room_for_tiles(MemoryId gpu, int compute_streams);

  /// Binds a plan. Throws InputError if the plan is invalid or does not match this
  /// topology, MemoryShortage if its peak exceeds a device's free memory (naming the size
  /// that would fit), HardwareError if a device does not exist or the plan copies between
  /// devices without peer access.
  std::shared_ptr<CudaPlan> prepare(const Plan& plan);

  /// Runs a bound plan and returns when the results are stored. Throws InputError if a
  /// matrix is missing or not in the memory that the plan names, cuda::CudaError naming
  /// the failed operation; the executor stays usable unless the device itself is lost.
  /// Copies of `pageable` matrices, which are not page-locked, go through page-locked
  /// slots (staging.hpp); only plans that `may_read_ahead` (staging_chunks.hpp) support
  /// this. With `lasting`, the run can be a graph. Limit: a graph serves only runs on the
  /// same allocations, because its copies fail if host memory has been freed, even if its
  /// address is in use again.
  CudaRunTimes run(CudaPlan& plan, const Matrices& matrices,
                   cuda::PageableMatrices pageable = {},
                   const std::optional<AllocationIds>& lasting = {});

  /// Submits a bound plan and returns after `CudaRunTimes::wall` seconds. The run
  /// executes after all present work of `callers` and after earlier runs, and before
  /// later work of `callers`. Matrices on hosts must be page-locked; until the run is
  /// over, the caller must not change or free matrices, and the plan must live. `lasting`
  /// as for `run`. Throws the errors of `run`, but a copy or a kernel that fails later is
  /// reported by `wait` or the next run. All other members first wait for submitted work.
  CudaRunTimes submit(CudaPlan& plan, const Matrices& matrices,
                      std::span<const cuda::StreamOnDevice> callers,
                      const std::optional<AllocationIds>& lasting = {});

  /// Waits for all submitted runs. Throws CudaError if one failed.
  void wait();

  /// Frees the arenas of devices; later runs allocate them again, or throw
  /// MemoryShortage. Throws CudaError.
  void free_arenas();

  /// Runs a bound plan of one kernel whose operands are all matrices (api/single_gpu.hpp)
  /// from the calling thread, in the legacy default stream of its GPU or, with
  /// `own_stream`, in one of the executor's streams. The places of matrices are not
  /// checked.
  CudaRunTimes run_single(CudaPlan& plan, const Matrices& matrices, bool own_stream);

  /// Runs with the trace of the options, at least `automatic`. Times count from the start
  /// of the first operation.
  Timeline run_traced(CudaPlan& plan, const Matrices& matrices,
                      CudaRunTimes* times = nullptr);

  /// The matrices of `execute`.
  void set_matrices(const Matrices& matrices);
  Timeline execute(const Plan& plan) override;

  const Topology& topology() const;
  /// CUDA device of a GPU of the topology.
  int ordinal(MemoryId gpu) const;
  /// The tracer: "CUPTI", "events", or "" before the first traced run.
  std::string tracer() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tilerail
