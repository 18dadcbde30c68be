#include "backends/cuda/run/stream_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "plan/stream_waits.hpp"

namespace tilerail::cuda {
namespace {

constexpr int64_t no_event = -1;
constexpr uint32_t no_stream = ~uint32_t{0};

class Builder {
 public:
  Builder(const Plan& plan, const Topology& topology)
      : plan_{plan},
        topology_{topology},
        stream_of_queue_(plan.queues.size(), no_stream),
        waits_{plan, topology} {}

  StreamProgram build() {
    for (const Op& op : plan_.ops) open_stream(op.queue);
    issue();
    return std::move(program_);
  }

 private:
  /// The GPU whose stream serves the operations of this memory.
  MemoryId carrier(MemoryId owner) const {
    if (!topology_.is_host(owner)) return owner;
    if (!topology_.gpus().empty()) return topology_.gpus().front();
    throw fault_of("topology", fmt::format("machine '{}' has no GPU", topology_.name()),
                   "at least one");
  }

  void open_stream(QueueId id) {
    uint32_t& stream = stream_of_queue_[id.index()];
    if (stream != no_stream) return;
    if (const QueueId first = waits_.stream_of(id); first != id) {
      open_stream(first);
      stream = stream_of_queue_[first.index()];
      return;
    }
    const Queue& queue = plan_.queue(id);
    const MemoryId owner = stream_owner(queue, topology_), device = carrier(owner);
    const bool on_host = device != owner,
               compute = queue.kind == Queue::Kind::compute && !on_host;
    stream = uint32_t(program_.streams.size());
    program_.streams.push_back(
        {device, compute, slots_[{device.index(), compute}]++, on_host});
    issuer_of_stream_.push_back(issuer_of(owner));
  }

  uint32_t issuer_of(MemoryId device) {
    const auto first = program_.issuers.begin(), last = program_.issuers.end();
    const auto found = plan_.single_issuer ? first : std::find(first, last, device);
    const auto issuer = uint32_t(found - first);
    if (found == last) {
      program_.issuers.push_back(device);
      program_.steps.emplace_back();
    }
    return issuer;
  }

  void issue() {
    event_of_op_.assign(plan_.ops.size(), no_event);
    std::vector<std::pair<uint32_t, size_t>> step_of_op(plan_.ops.size());
    for (const auto i : indices(plan_.ops)) {
      const OpId id{i};
      const uint32_t stream = stream_of_queue_[plan_.op(id).queue.index()];
      const uint32_t issuer = issuer_of_stream_[stream];
      const auto begin = uint32_t(program_.waits.size());
      for (const OpId dep : waits_.before(id)) program_.waits.push_back(wait_for(dep));
      auto& steps = program_.steps[issuer];
      step_of_op[i] = {issuer, steps.size()};
      steps.push_back({id, stream, no_event, begin, uint32_t(program_.waits.size())});
    }
    for (const auto i : indices(plan_.ops))
      program_.steps[step_of_op[i].first][step_of_op[i].second].event = event_of_op_[i];
  }

  StreamProgram::Wait wait_for(OpId dep) {
    const uint32_t stream = stream_of_queue_[plan_.op(dep).queue.index()];
    int64_t& event = event_of_op_[dep.index()];
    if (event == no_event) {
      event = int64_t(program_.event_streams.size());
      program_.event_streams.push_back(stream);
    }
    return {uint32_t(event), dep, issuer_of_stream_[stream]};
  }

  const Plan& plan_;
  const Topology& topology_;
  StreamProgram program_;
  std::vector<uint32_t> stream_of_queue_, issuer_of_stream_;
  StreamWaits waits_;
  std::map<std::pair<size_t, bool>, int> slots_;
  std::vector<int64_t> event_of_op_;
};

}  // namespace

StreamProgram stream_program(const Plan& plan, const Topology& topology) {
  return Builder{plan, topology}.build();
}

}  // namespace tilerail::cuda
