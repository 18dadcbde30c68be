#pragma once

#include <cstdint>
#include <memory>

#include "backends/real_executor.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

struct HostOptions {
  int workers = 0;      // threads of each device; 0: the topology's engines.total, else 2
  bool poison = false;  // fill the arenas with NaN before each run: reading bytes that
                        // nothing wrote then shows
};

/// Runs plans on CPU threads and real memory. Each GPU of the topology becomes a device:
/// a group of worker threads with an arena of its own for tiles. Copies are real copies,
/// GEMMs are calls of a BLAS library on one thread each.
///
/// A worker takes the ready operation with the lowest id among the queues of its device,
/// so a device runs at most `workers` operations, copies and kernels together, at once:
/// what Engines::total says to the simulator. Threads are created once and parked between
/// plans; arenas are kept and grow when a plan needs more.
class HostExecutor final : public RealExecutor {
 public:
  /// Throws InputError when the topology has no GPU or the number of workers is negative.
  explicit HostExecutor(Topology topology, HostOptions options = {});
  ~HostExecutor() override;

  /// The matrices of the plans to come. They are not copied and must live through every
  /// `execute`.
  void set_matrices(const Matrices& matrices);

  /// Runs the plan once on the matrices that were set. Times are of the steady clock, in
  /// seconds since all workers stood ready. Running the same plan again allocates nothing
  /// but the result. Throws InputError when the plan is not valid or not of this
  /// topology, its dtype is neither f64 nor f32, a matrix that it uses was not set, or an
  /// operation failed on its data (naming the operation); std::runtime_error when an
  /// operation failed otherwise. The matrices are then in an unspecified state; the
  /// executor stays usable.
  Timeline execute(const Plan& plan) override;

  std::unique_ptr<TestMatrices> test_matrices(std::span<const Plan* const> plans,
                                              const TestMatrixOptions& options) override;
  void bind(const Plan& plan, const Matrices& matrices) override;
  CallTimes call() override { return traced_call().times; }
  TracedCall traced_call() override;
  bool has_overheads() const override { return false; }

  const Topology& topology() const;
  /// Threads of the device-th GPU, counted from 0 in the order of Topology::gpus().
  int workers(int device) const;
  /// Bytes that the arena of a memory holds.
  int64_t arena_bytes(MemoryId memory) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tilerail
