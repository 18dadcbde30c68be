#pragma once

#include <queue>
#include <vector>

#include "sched/place/chooser.hpp"
#include "sched/route/fetcher.hpp"
#include "sched/tasks/directory.hpp"
#include "sched/tasks/outputs.hpp"

namespace tilerail {

/// Makes operations of tasks (Algorithm 1 of thesis 4.2.7, for any tasks): devices ask
/// their chooser for a task, the fetcher brings what it reads, the outputs make room for
/// what it writes, and the kernel follows.
class TaskLoop {
 public:
  TaskLoop(PlanContext& context, Fetcher& fetcher, Outputs& outputs, Chooser& chooser)
      : context_{context},
        directory_{fetcher.directory()},
        fetcher_{fetcher},
        outputs_{outputs},
        chooser_{chooser} {}

  /// Until no device is given a task any more.
  void run();

  /// The same with agents, one a device, who know only what has happened by the time at
  /// which they act. An agent asks for tasks as long as it may have more; then it waits
  /// until what one of them reads has come or until one has ended, and what it hands over
  /// next depends on that. Of the plan's clock, options.in_time has to be set.
  void run_in_time(const TasksAtOnce& limits);

 private:
  /// A task as it was planned.
  struct Given {  // NOLINT(bugprone-exception-escape): numbers are moved without
                  // exceptions
    Task task;
    OpId kernel;
    boost::container::small_vector<OpId, 4> awaited;  // by the kernel
    Seconds ready{0}, end{0};                         // of the kernel, by the clock
  };
  struct Event {
    Seconds at;
    size_t number;  // of those at the same time, the lowest comes first
    size_t device, given;
    bool is_end;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  struct Agent {
    size_t unfinished = 0, waiting = 0;
    Seconds busy_until{0};  // the host thread
  };
  void act(size_t device, Seconds now, const TasksAtOnce& limits);
  void note(size_t device, Seconds at, size_t given, bool is_end);

  void run_in_turn();
  void run_first_free();
  bool serve(size_t device);
  Given add(size_t device, const Task& task);

  PlanContext& context_;
  TileDirectory& directory_;
  Fetcher& fetcher_;
  Outputs& outputs_;
  Chooser& chooser_;
  std::vector<Agent> agents_;        // by device
  std::vector<Given> given_;         // in time only
  std::vector<size_t> free_places_;  // in it
  std::priority_queue<Event> events_;
  size_t events_so_far_ = 0;
};

}  // namespace tilerail
