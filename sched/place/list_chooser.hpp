#pragma once

#include <deque>
#include <queue>
#include <vector>

#include "sched/place/chooser.hpp"
#include "sched/route/fetcher.hpp"
#include "sched/tasks/task_graph.hpp"

namespace tilerail {

/// List scheduling by upward rank and earliest finish. The rank of a task is the
/// remaining work from its start:
///   rank(t) = mean over devices of time(t) + max over successors s of rank(s)
/// The task with the highest rank among those with planned predecessors goes to the
/// device d that finishes it first by the clock:
///   finish(t, d) = max(free(d) + assigned(d), arrival of its tiles at d) + time(t, d)
/// Ties take the lowest task and the lowest device. Source: Topcuoglu, Hariri, Wu, HEFT,
/// 2002, without insertion into gaps, and without mean transfer times in the rank: the
/// sources of tiles are not known yet. If the owner computes, a task goes to
/// the device whose memory is the home of its result, if there is one.
class ListChooser final : public Chooser {
 public:
  ListChooser(PlanContext& context, const Fetcher& fetcher, const TaskGraph& graph,
              bool owner_computes);

  DispatchOrder dispatch_order() const override { return DispatchOrder::first_free; }
  std::optional<Task> next(size_t device) override;
  void placed(size_t device, const Task& task) override;

 private:
  struct RankedTask {
    Seconds rank;
    TaskId id;
    bool operator<(const RankedTask& other) const {
      return rank != other.rank ? rank < other.rank : id > other.id;
    }
  };
  Seconds time(TaskId id, size_t device) const;
  Seconds arrival(TaskId id, size_t device) const;
  size_t earliest(TaskId id) const;
  void assign(TaskId id);

  PlanContext& context_;
  const Fetcher& fetcher_;
  const TaskGraph& graph_;
  bool owner_computes_;
  std::vector<Seconds> ranks_;     // by task
  std::vector<size_t> waits_for_;  // by task
  std::priority_queue<RankedTask> ready_;
  std::vector<std::deque<TaskId>> line_;  // by device: assigned, not yet requested
  std::vector<Seconds> assigned_;         // by device: total time of its line
  std::vector<TaskId> current_;           // by device: the task it received last
};

}  // namespace tilerail
