#include "study/parallel.hpp"

#include <mutex>

#include "model/base/threads.hpp"

namespace tilerail::study {

void in_parallel(const Workers& workers, size_t tasks,
                 const std::function<void(size_t)>& work) {
  std::mutex mutex;
  size_t done = 0;
  share_work(tasks, workers.count, [&](size_t task) {
    if (workers.stop_asked()) return;
    work(task);
    const std::lock_guard lock{mutex};
    workers.ended(++done, tasks);
  });
}

}  // namespace tilerail::study
