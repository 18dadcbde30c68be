#include "backends/host/run/dispatcher.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"

namespace tilerail::host {
namespace {

constexpr int32_t no_device = -1, end_of_list = -1;

/// Index of the processor that a queue keeps busy: the destination's, unless it is a host
/// and the source is not, or it is of another rank. The first processor's threads run
/// copies between memories without one.
int32_t device_index(const Queue& queue, const Topology& topology,
                     std::span<const MemoryId> devices) {
  const MemoryId busy = topology.is_host(queue.dst) ? queue.src : queue.dst;
  for (const MemoryId memory : {busy, queue.dst, queue.src}) {
    const auto found = std::ranges::find(devices, memory);
    if (found != devices.end()) return int32_t(found - devices.begin());
  }
  return 0;
}

}  // namespace

void Dispatcher::prepare(const Plan& plan, const Topology& topology,
                         std::span<const MemoryId> devices) {
  const size_t count = plan.ops.size();
  device_.resize(count);
  std::vector<size_t> per_device(ready_.size(), 0);
  for (size_t i = 0; i < count; ++i) {
    const Op& op = plan.ops[i];
    device_[i] = op.kind == OpKind::join
                     ? no_device
                     : device_index(plan.queue(op.queue), topology, devices);
    if (device_[i] != no_device) ++per_device[size_t(device_[i])];
  }
  graph_.emplace(plan);
  waiting_.resize(count);
  next_join_.resize(count);
  for (const auto d : indices(per_device)) ready_[d].heap.reserve(per_device[d]);
}

void Dispatcher::reset() {
  const std::vector<uint32_t>& waits_for = graph_->waits_for();
  std::ranges::copy(waits_for, waiting_.begin());
  for (Ready& ready : ready_) ready.heap.clear();
  for (const auto i : indices(device_)) {
    // Ascending ids already form a heap.
    if (waits_for[i] == 0 && device_[i] != no_device) {
      ready_[size_t(device_[i])].heap.push_back(int32_t(i));
    }
  }
  left_ = int64_t(device_.size());
  stopped_ = device_.empty();
  failure_.reset();
}

void Dispatcher::start(std::span<OpTime> times) {
  times_ = times;
  timer_ = {};
  for (const auto i : indices(device_)) {
    if (graph_->waits_for()[i] == 0 && device_[i] == no_device) finish(int32_t(i));
  }
}

void Dispatcher::work(int device, const std::function<bool(OpId)>& run_op) {
  Ready& ready = ready_[size_t(device)];
  while (const std::optional<int32_t> op = take(ready)) {
    const OpId id{*op};
    times_[id.index()].start = timer_.seconds();
    try {
      if (run_op(id)) end(id);
    } catch (const InputError& error) {
      return fail({id, error.what(), true});
    } catch (const std::exception& error) {
      return fail({id, error.what(), false});
    }
  }
}

void Dispatcher::end(OpId op) {
  times_[op.index()].end = timer_.seconds();
  finish(op.value);
}

std::optional<int32_t> Dispatcher::take(Ready& ready) {
  std::unique_lock lock{ready.mutex};
  if (ready.heap.empty() && !stopped_) {
    ++ready.idle;
    ready.arrived.wait(lock, [&] { return !ready.heap.empty() || stopped_; });
    --ready.idle;
  }
  if (stopped_) return std::nullopt;
  std::pop_heap(ready.heap.begin(), ready.heap.end(), std::greater<>{});
  const int32_t op = ready.heap.back();
  ready.heap.pop_back();
  return op;
}

void Dispatcher::finish(int32_t op) {
  int32_t joins = end_of_list;  // operations to finish after `op`, linked by next_join_
  while (true) {
    const auto index = size_t(op);
    for (const OpId next : graph_->successors(OpId{index})) {
      const int32_t successor = next.value;
      const size_t at = next.index();
      // acq_rel: writes of the ended operations are visible to the thread that takes the
      // successor.
      if (std::atomic_ref{waiting_[at]}.fetch_sub(1, std::memory_order_acq_rel) != 1)
        continue;
      if (device_[at] == no_device) {
        next_join_[at] = std::exchange(joins, successor);
      } else {
        push(successor);
      }
    }
    if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) return stop();
    if (joins == end_of_list) return;
    op = std::exchange(joins, next_join_[size_t(joins)]);
    times_[size_t(op)].start = times_[size_t(op)].end = timer_.seconds();
  }
}

void Dispatcher::push(int32_t op) {
  Ready& ready = ready_[size_t(device_[size_t(op)])];
  const std::lock_guard lock{ready.mutex};
  ready.heap.push_back(op);
  std::push_heap(ready.heap.begin(), ready.heap.end(), std::greater<>{});
  if (ready.idle > 0) ready.arrived.notify_one();
}

void Dispatcher::stop() {
  stopped_ = true;
  for (Ready& ready : ready_) {
    const std::lock_guard lock{ready.mutex};
    ready.arrived.notify_all();
  }
}

void Dispatcher::fail(Failure failure) {
  {
    const std::lock_guard lock{failure_mutex_};
    if (!failure_) failure_ = std::move(failure);
  }
  stop();
}

}  // namespace tilerail::host
