#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/base/timer.hpp"
#include "model/timeline.hpp"
#include "plan/graph.hpp"
#include "plan/plan.hpp"

namespace tilerail::host {

/// The first failure of a run.
struct Failure {
  std::optional<OpId> op;  // absent: of another rank
  std::string what;
  bool bad_input = false;  // an InputError; false: an internal or machine error
};

/// Dispatches the operations of one plan to worker threads by the execution rule of
/// plan/plan.hpp.
///
/// An operation waits for its dependencies and for its queue predecessor: one counter per
/// operation, decremented by each thread that ends one of them. At zero the operation
/// joins the ready heap of its device; a worker takes the lowest id there. A join has no
/// work and ends immediately, on the thread that brought its counter to zero.
///
/// The counters are atomic and order the writes of an operation before the reads of its
/// successors. The thread sanitizer checks this order in CI (preset `tsan`). Helgrind
/// tracks the order of locks only, so it reports tiles that two operations pass on
/// through a counter.
class Dispatcher {
 public:
  explicit Dispatcher(int devices) : ready_(size_t(devices)) {}

  /// Builds the counters and successor lists of a plan; the only call that allocates.
  /// `devices`: the memory of each device.
  void prepare(const Plan& plan, const Topology& topology,
               std::span<const MemoryId> devices);

  /// Prepares another run of the prepared plan. All workers must have left `work`.
  void reset();

  /// Sets time zero and ends the joins without dependencies. Call once, after reset,
  /// before any `work`.
  void start(std::span<OpTime> times);

  /// Runs operations of one device until the plan has none left or one has failed. Called
  /// by each worker; if `run_op` throws, the plan fails. It returns whether the operation
  /// has ended; otherwise `end` must be called later.
  void work(int device, const std::function<bool(OpId)>& run_op);

  /// Ends an operation that `run_op` has started, from any thread.
  void end(OpId op);

  /// Fails the plan, from any thread.
  void fail(Failure failure);

  /// The failure, if any, after every `work` has returned.
  const std::optional<Failure>& failure() const { return failure_; }

 private:
  struct Ready {  // operations of one device whose counter is zero
    std::mutex mutex;
    std::condition_variable arrived;
    std::vector<int32_t> heap;  // lowest id on top
    int idle = 0;               // workers waiting for an arrival
  };

  std::optional<int32_t> take(Ready& ready);
  void finish(int32_t op);
  void push(int32_t op);
  void stop();

  std::vector<int32_t> device_;     // by operation; no_device for joins
  std::optional<PlanGraph> graph_;  // of the prepared plan

  std::vector<int32_t> waiting_;  // by operation: number of unfinished predecessors
  std::vector<int32_t>
      next_join_;  // by operation: next in the list of joins that one finish() ends
  std::deque<Ready> ready_;        // by device
  std::atomic<int64_t> left_ = 0;  // operations that have not ended
  std::atomic<bool> stopped_ = false;
  std::span<OpTime> times_;
  Timer timer_;
  std::mutex failure_mutex_;
  std::optional<Failure> failure_;
};

}  // namespace tilerail::host
