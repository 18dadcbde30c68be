#include "backends/cuda/run/stream_graph.hpp"

#include <deque>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/timed_event.hpp"

namespace tilerail::cuda {
namespace {

/// Destroys the graph.
struct GraphOwner {
  cudaGraph_t graph = nullptr;
  GraphOwner() = default;
  ~GraphOwner() {
    if (graph) cudaGraphDestroy(graph);
  }
  GraphOwner(const GraphOwner&) = delete;
  GraphOwner& operator=(const GraphOwner&) = delete;
};

/// Later work in `stream` runs after the present work in `before`. The event belongs to
/// the device of `before`.
void follow(const StreamOnDevice& stream, const StreamOnDevice& before,
            std::deque<PlainEvent>& events) {
  const DeviceScope scope{before.device};
  check(cudaEventRecord(events.emplace_back(), before.stream), "recording an event");
  check(cudaStreamWaitEvent(stream.stream, events.back(), 0), "waiting for an event");
}

}  // namespace

StreamGraph::StreamGraph(std::span<const StreamOnDevice> streams,
                         const std::function<void()>& issue)
    : first_{streams.front()} {
  const DeviceScope scope{first_.device};
  const auto others = streams.subspan(1);
  std::deque<PlainEvent> events;
  GraphOwner recorded;
  check(cudaStreamBeginCapture(first_.stream, cudaStreamCaptureModeThreadLocal),
        "recording a graph");
  try {
    for (const StreamOnDevice& other : others) follow(other, first_, events);
    issue();
    for (const StreamOnDevice& other : others) follow(first_, other, events);
  } catch (...) {
    cudaStreamEndCapture(first_.stream, &recorded.graph);
    cudaGetLastError();
    throw;
  }
  check(cudaStreamEndCapture(first_.stream, &recorded.graph), "recording a graph");
  check(cudaGraphInstantiate(&made_, recorded.graph, 0), "making a graph");
  if (const cudaError_t status = cudaGraphUpload(made_, first_.stream);
      status != cudaSuccess) {
    cudaGraphExecDestroy(made_);
    check(status, "sending a graph to its device");
  }
}

StreamGraph::~StreamGraph() { cudaGraphExecDestroy(made_); }

void StreamGraph::launch() const {
  const DeviceScope scope{first_.device};
  check(cudaGraphLaunch(made_, first_.stream), "launching a graph");
}

void StreamGraph::wait() const {
  check(cudaStreamSynchronize(first_.stream), "an operation of a graph");
}

}  // namespace tilerail::cuda
