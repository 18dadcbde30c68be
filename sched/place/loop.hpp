#pragma once

#include <queue>
#include <vector>

#include "sched/place/chooser.hpp"
#include "sched/route/fetcher.hpp"
#include "sched/tasks/directory.hpp"
#include "sched/tasks/outputs.hpp"

namespace tilerail {

/// Turns tasks into operations (Algorithm 1 of thesis 4.2.7, for any tasks): devices
/// request a task from their chooser, the fetcher fetches its inputs, the outputs make
/// room for its result, and the kernel follows.
class TaskLoop {
 public:
  TaskLoop(PlanContext& context, Fetcher& fetcher, Outputs& outputs, Chooser& chooser)
      : context_{context},
        directory_{fetcher.directory()},
        fetcher_{fetcher},
        outputs_{outputs},
        chooser_{chooser} {}

  /// Runs until no device receives a task.
  void run();

  /// The same in model time, with one agent per device that uses past events only. An
  /// agent requests tasks up to its limits; then it waits until an input of one of them
  /// has arrived or one has ended, and its next submissions depend on that event.
  /// Requires options.in_time of the plan's clock.
  void run_in_time(const TasksAtOnce& limits);

 private:
  /// A planned task.
  struct PlannedTask {  // NOLINT(bugprone-exception-escape): numbers are moved without
                        // exceptions
    Task task;
    OpId kernel;
    boost::container::small_vector<OpId, 4> awaited;  // dependencies of the kernel
    Seconds ready{0}, end{0};                         // of the kernel, by the clock
  };
  struct Event {
    Seconds at;
    size_t number;  // ties go to the lowest
    size_t device, planned;
    bool is_end;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };
  struct Agent {
    size_t unfinished = 0, waiting = 0;
    Seconds busy_until{0};  // time until which the host thread is busy
  };
  void act(size_t device, Seconds now, const TasksAtOnce& limits);
  void note(size_t device, Seconds at, size_t planned, bool is_end);

  void run_in_turn();
  void run_first_free();
  bool serve(size_t device);
  PlannedTask add(size_t device, const Task& task);

  PlanContext& context_;
  TileDirectory& directory_;
  Fetcher& fetcher_;
  Outputs& outputs_;
  Chooser& chooser_;
  std::vector<Agent> agents_;         // by device
  std::vector<PlannedTask> planned_;  // in time only
  std::vector<size_t> free_places_;   // free indices in `planned_`
  std::priority_queue<Event> events_;
  size_t events_so_far_ = 0;
};

}  // namespace tilerail
