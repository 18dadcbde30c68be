#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "backends/cuda/run/cuda_executor.hpp"
#include "backends/cuda/run/stream_graph.hpp"
#include "backends/cuda/run/tracer.hpp"

namespace tilerail::cuda {

/// What a graph of a plan holds beside the plan: where its buffers start, and its
/// coefficients.
struct GraphValues {
  std::vector<std::byte*> buffers;
  double alpha = 0, beta = 0;
  AllocationIds allocations;  // of matrices: other memory may have the same address
  std::vector<uint64_t>
      arenas;  // Device::arena_number and HostArenas::number: so may another arena
  bool operator==(const GraphValues&) const = default;
};

/// A bound plan as one graph.
class PlanGraph {
 public:
  /// `tracer` is to trace the run, or null. Throws CudaError naming the operation that
  /// cannot be recorded.
  PlanGraph(CudaPlan& plan, GraphValues values, Tracer* tracer = nullptr);

  const GraphValues& values() const { return values_; }

  /// Runs everything, waits for it, and returns the times. Throws CudaError.
  CudaRunTimes run() const;

  /// Hands everything over to the plan's first stream, and returns the times until then.
  /// Throws CudaError.
  CudaRunTimes hand_over() const;

 private:
  CudaRunTimes times_of_issue(double seconds) const;

  GraphValues values_;
  Tracer* tracer_;
  StreamGraph graph_;
  size_t ops_;
};

/// Runs of a plan that may be one graph. A graph takes about as long to make as two runs
/// of its operations one by one take to hand over, so it is made when a run is just like
/// the one before it.
class RepeatedRuns {
 public:
  /// The graph of this run; null where operations are to be handed over one by one.
  PlanGraph* next(CudaPlan& plan, GraphValues values);
  /// A graph failed: from now on operations are handed over one by one.
  void give_up();

 private:
  GraphValues last_;
  bool ran_ = false, refused_ = false;
  std::unique_ptr<PlanGraph> graph_;
};

/// The graph of a run that is just like the one before; null where its operations are to
/// be handed over one by one. Throws CudaError.
PlanGraph* graph_of_run(CudaPlan& plan, GraphValues values);

/// Runs the plan as a graph where it is to be one: traced runs where the tracer traces
/// graphs, others that are just like the one before. Else nothing. Throws CudaError.
std::optional<CudaRunTimes> run_as_graph(CudaPlan& plan, GraphValues values,
                                         Tracer* tracer);

}  // namespace tilerail::cuda
