#pragma once

#include <cstdint>
#include <memory>

#include "backends/ranks/rank_transport.hpp"
#include "backends/real_executor.hpp"
#include "model/machine/topology.hpp"
#include "plan/part.hpp"

namespace tilerail {

struct HostOptions {
  int workers = 0;      // per device; 0: the topology's engines.total, else 2
  bool poison = false;  // fill the arenas with NaN before each run, to detect reads of
                        // unwritten bytes
  OwnRank own = {};     // the processors of this rank become devices
};

/// Runs plans on CPU threads and real memory. Each processor of the topology, or of one
/// rank, becomes a device: a group of worker threads with its own arena for tiles. Copies
/// are real copies, GEMMs are calls of a BLAS library on one thread each.
///
/// A worker takes the ready operation with the lowest id in the queues of its device, so
/// a device runs at most `workers` operations, copies and kernels together,
/// simultaneously: the same limit as Engines::total in the simulator. Threads are created
/// once and parked between plans; arenas are kept and grow if a plan needs more.
class HostExecutor final : public RealExecutor {
 public:
  /// Throws InputError if the rank has no processor or the number of workers is negative.
  explicit HostExecutor(Topology topology, const HostOptions& options = {});
  ~HostExecutor() override;

  /// The matrices of the following plans. They are not copied and must outlive every
  /// `execute`.
  void set_matrices(const Matrices& matrices);

  /// Runs the plan once on the matrices that were set. Times are from the steady clock,
  /// in seconds since all workers were ready. Running the same plan again allocates only
  /// the result. Throws InputError if the plan is invalid or does not match this
  /// topology, its dtype is tf32, a matrix that it uses was not set, or an
  /// operation failed on its data (naming the operation); std::runtime_error if an
  /// operation failed for another reason. The matrices are then in an unspecified state;
  /// the executor stays usable.
  Timeline execute(const Plan& plan) override;

  /// Runs a rank's part together with the executors of the other ranks, each of which has
  /// a transport of its own. Only matrices and arenas of the rank are used. Throws as
  /// above, but the same error in all ranks: the first of any of them, with its rank. The
  /// timeline's hash is the hash of the distributed plan.
  Timeline execute(const PlanPart& part, RankTransport& transport);

  std::unique_ptr<TestMatrices> test_matrices(std::span<const Plan* const> plans,
                                              const TestMatrixOptions& options) override;
  void bind(const Plan& plan, const Matrices& matrices) override;
  CallTimes call() override { return traced_call().times; }
  TracedCall traced_call() override;
  bool has_overheads() const override { return false; }

  const Topology& topology() const;
  /// Threads of the rank's device-th processor, counted from 0 in the order of
  /// Topology::processors().
  int workers(int device) const;
  /// Bytes in the arena of a memory.
  int64_t arena_bytes(MemoryId memory) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tilerail
