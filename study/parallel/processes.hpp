#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace tilerail::study {

/// What became of a task: its result, or why there is none.
struct TaskEnd {
  std::size_t task;
  bool failed;
  std::string text;
  bool no_hardware = false;  // it failed for want of what other tasks want, too: a GPU, the simulator of this build
};

struct Processes {
  std::size_t count = 1;
  /// Called now and then while tasks run: how many have ended, of how many.
  std::function<void(std::size_t, std::size_t)> tick = [](std::size_t, std::size_t) {};
};

/// The cores that this process may use.
std::size_t usable_cores();

/// Calls work(task) for each of `tasks`, every call in one of a few processes: the simulator exists once in a process,
/// and a task that ends its process ends no other. The processes start as copies of this one, which has no threads of
/// its own then, so that `work` sees what is there now. `ended` is called in this process, in the order in which tasks
/// end. A task fails when `work` throws or its process ends. Throws what `ended` throws, and ends the others first;
/// InputError when no process can be started, as by a limit on their number.
void in_processes(const Processes& processes, std::span<const std::size_t> tasks,
                  const std::function<std::string(std::size_t)>& work, const std::function<void(TaskEnd)>& ended);

}  // namespace tilerail::study
