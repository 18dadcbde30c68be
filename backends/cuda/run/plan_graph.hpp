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

/// The values in a graph in addition to the plan: the starts of its buffers, and its
/// coefficients.
struct GraphValues {
  std::vector<std::byte*> buffers;
  double alpha = 0, beta = 0;
  AllocationIds allocations;     // of matrices: other memory can have the same address
  std::vector<uint64_t> arenas;  // Device::arena_number and HostArenas::number: other
                                 // arenas can have the same address
  bool operator==(const GraphValues&) const = default;
};

/// A bound plan as one graph.
class PlanGraph {
 public:
  /// `tracer` traces the run, or is null. Throws CudaError naming the operation that
  /// cannot be recorded.
  PlanGraph(CudaPlan& plan, GraphValues values, Tracer* tracer = nullptr);

  const GraphValues& values() const { return values_; }

  /// Runs the graph, waits for it, and returns the times. Throws CudaError.
  CudaRunTimes run() const;

  /// Submits the graph to the plan's first stream, and returns the times until then.
  /// Throws CudaError.
  CudaRunTimes hand_over() const;

 private:
  CudaRunTimes times_of_issue(double seconds) const;

  GraphValues values_;
  Tracer* tracer_;
  StreamGraph graph_;
  size_t ops_;
};

/// Runs of a plan that can be one graph. Creating a graph takes about as long as issuing
/// the operations of two runs one by one, so it is created when a run repeats its
/// predecessor.
class RepeatedRuns {
 public:
  /// The graph of this run; null if operations must be issued one by one.
  PlanGraph* next(CudaPlan& plan, GraphValues values);
  /// After a failure of a graph: later runs issue operations one by one.
  void give_up();

 private:
  GraphValues last_;
  bool ran_ = false, refused_ = false;
  std::unique_ptr<PlanGraph> graph_;
};

/// The graph of a run that repeats its predecessor; null if its operations must be issued
/// one by one. Throws CudaError.
PlanGraph* graph_of_run(CudaPlan& plan, GraphValues values);

/// Runs the plan as a graph if possible: traced runs if the tracer traces graphs, other
/// runs if they repeat their predecessor. Otherwise returns nothing. Throws CudaError.
std::optional<CudaRunTimes> run_as_graph(CudaPlan& plan, GraphValues values,
                                         Tracer* tracer);

}  // namespace tilerail::cuda
