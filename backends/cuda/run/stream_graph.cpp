#include "backends/cuda/run/stream_graph.hpp"

#include <deque>

#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {
namespace {

/// Destroyed where it was not handed on.
struct Recorded {
  cudaGraph_t graph = nullptr;
  Recorded() = default;
  ~Recorded() {
    if (graph) cudaGraphDestroy(graph);
  }
  Recorded(const Recorded&) = delete;
  Recorded& operator=(const Recorded&) = delete;
};

void follow(cudaStream_t stream, cudaStream_t before, cudaEvent_t event) {
  check(cudaEventRecord(event, before), "recording an event");
  check(cudaStreamWaitEvent(stream, event, 0), "waiting for an event");
}

}  // namespace

StreamGraph::StreamGraph(std::span<const cudaStream_t> streams, const std::function<void()>& issue)
    : first_{streams.front()} {
  const auto others = streams.subspan(1);
  std::deque<PlainEvent> events(2 * others.size());
  Recorded recorded;
  check(cudaStreamBeginCapture(first_, cudaStreamCaptureModeThreadLocal), "recording a graph");
  try {
    for (std::size_t i = 0; i < others.size(); ++i) follow(others[i], first_, events[2 * i]);
    issue();
    for (std::size_t i = 0; i < others.size(); ++i) follow(first_, others[i], events[2 * i + 1]);
  } catch (...) {
    cudaStreamEndCapture(first_, &recorded.graph);
    cudaGetLastError();
    throw;
  }
  check(cudaStreamEndCapture(first_, &recorded.graph), "recording a graph");
  check(cudaGraphInstantiate(&made_, recorded.graph, 0), "making a graph");
  if (const cudaError_t status = cudaGraphUpload(made_, first_); status != cudaSuccess) {
    cudaGraphExecDestroy(made_);
    check(status, "sending a graph to its device");
  }
}

StreamGraph::~StreamGraph() {
  if (end_) cudaEventSynchronize(*end_);
  cudaGraphExecDestroy(made_);
}

void StreamGraph::launch() const { check(cudaGraphLaunch(made_, first_), "launching a graph"); }

void StreamGraph::wait() const { check(cudaStreamSynchronize(first_), "an operation of a graph"); }

void StreamGraph::hand_over() {
  if (!end_) end_ = std::make_unique<PlainEvent>();
  launch();
  check(cudaEventRecord(*end_, first_), "recording an event");
}

}  // namespace tilerail::cuda
