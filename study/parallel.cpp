#include "study/parallel.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

#include "model/base/threads.hpp"

namespace tilerail::study {

std::size_t usable_cores() { return std::max(1u, std::thread::hardware_concurrency()); }

void in_parallel(const Workers& workers, std::size_t tasks, const std::function<void(std::size_t)>& work) {
  std::mutex mutex;
  std::size_t done = 0;
  share_work(tasks, workers.count, [&](std::size_t task) {
    if (workers.stop_asked()) return;
    work(task);
    const std::lock_guard lock{mutex};
    workers.ended(++done, tasks);
  });
}

}  // namespace tilerail::study
