#pragma once

#include "sched/place/chooser.hpp"
#include "sched/route/fetcher.hpp"
#include "sched/tasks/directory.hpp"
#include "sched/tasks/outputs.hpp"

namespace tilerail {

/// Makes operations of tasks (Algorithm 1 of thesis 4.2.7, for any tasks): devices ask their chooser for a task, the
/// fetcher brings what it reads, the outputs make room for what it writes, and the kernel follows.
class TaskLoop {
 public:
  TaskLoop(PlanContext& context, Fetcher& fetcher, Outputs& outputs, Chooser& chooser)
      : context_{context}, directory_{fetcher.directory()}, fetcher_{fetcher}, outputs_{outputs}, chooser_{chooser} {}

  /// Until no device is given a task any more.
  void run();

 private:
  void run_in_turn();
  void run_first_free();
  bool serve(std::size_t device);
  void add(std::size_t device, const Task& task);

  PlanContext& context_;
  TileDirectory& directory_;
  Fetcher& fetcher_;
  Outputs& outputs_;
  Chooser& chooser_;
};

}  // namespace tilerail
