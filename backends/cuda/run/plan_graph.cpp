#include "backends/cuda/run/plan_graph.hpp"

#include <algorithm>
#include <utility>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/cuda_plan.hpp"
#include "backends/cuda/run/plan_run.hpp"
#include "model/base/timer.hpp"

namespace tilerail::cuda {
namespace {

bool may_be_graph(const CudaPlan& plan) {
  const size_t ops = plan.plan.ops.size();
  return ops > 0 && ops <= most_graph_operations;
}

/// Memory that copies of a graph read and write must not move, which ordinary memory does
/// not guarantee.
bool all_locked(const std::vector<std::byte*>& buffers) {
  return std::ranges::all_of(buffers, [](const std::byte* start) {
    cudaPointerAttributes attributes{};
    if (start == nullptr) return true;
    check(cudaPointerGetAttributes(&attributes, start), "looking a matrix up");
    return attributes.type != cudaMemoryTypeUnregistered;
  });
}

}  // namespace

PlanGraph::PlanGraph(CudaPlan& plan, GraphValues values, Tracer* tracer)
    : values_{std::move(values)},
      tracer_{tracer},
      graph_{plan.streams_on_devices(),
             [&] {
               PlanRun{plan, values_.buffers, tracer}.record();
             }},
      ops_{plan.plan.ops.size()} {}

CudaRunTimes PlanGraph::run() const {
  if (tracer_) tracer_->start();
  const Timer timer;
  graph_.launch();
  CudaRunTimes times = times_of_issue(timer.seconds());
  graph_.wait();
  times.wall = timer.seconds();
  return times;
}

CudaRunTimes PlanGraph::hand_over() const {
  const Timer timer;
  graph_.launch();
  return times_of_issue(timer.seconds());
}

CudaRunTimes PlanGraph::times_of_issue(double seconds) const {
  CudaRunTimes times;
  times.wall = times.issue = seconds;
  times.issue_per_op = seconds / double(ops_);
  times.as_graph = true;
  return times;
}

void RepeatedRuns::give_up() {
  graph_.reset();
  refused_ = true;
}

PlanGraph* RepeatedRuns::next(CudaPlan& plan, GraphValues values) {
  if (refused_) return nullptr;
  if (graph_ && graph_->values() == values) return graph_.get();
  graph_.reset();
  const bool again = std::exchange(ran_, true) && last_ == values;
  last_ = std::move(values);
  if (!again || !all_locked(last_.buffers)) return nullptr;
  try {
    graph_ = std::make_unique<PlanGraph>(plan, last_);
  } catch (const CudaError&) {  // for example, too little memory; issuing one by one
                                // still works
    refused_ = true;
  }
  return graph_.get();
}

PlanGraph* graph_of_run(CudaPlan& plan, GraphValues values) {
  return may_be_graph(plan) ? plan.runs.next(plan, std::move(values)) : nullptr;
}

std::optional<CudaRunTimes> run_as_graph(CudaPlan& plan, GraphValues values,
                                         Tracer* tracer) {
  if (!tracer) {
    const PlanGraph* const graph = graph_of_run(plan, std::move(values));
    if (!graph) return std::nullopt;
    try {
      return graph->run();
    } catch (const CudaError&) {
      plan.runs.give_up();
      throw;
    }
  }
  if (!may_be_graph(plan) || !tracer->traces_graphs() || !all_locked(values.buffers))
    return std::nullopt;
  return PlanGraph{plan, std::move(values), tracer}.run();
}

}  // namespace tilerail::cuda
