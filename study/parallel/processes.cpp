#include "study/parallel/processes.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <thread>
#include <vector>

#include "model/base/error.hpp"
#include "study/parallel/worker.hpp"

namespace tilerail::study {
namespace {

/// SimGrid keeps every machine that it has seen: after so many tasks a new process begins without them.
constexpr int tasks_of_a_process = 64;
constexpr int tick_milliseconds = 200;

class Pool {
 public:
  Pool(std::span<const std::size_t> tasks, const std::function<std::string(std::size_t)>& work,
       const std::function<void(TaskEnd)>& ended)
      : tasks_{tasks}, work_{work}, ended_{ended} {}

  void run(const Processes& processes) {
    const std::size_t count = std::min(std::max<std::size_t>(processes.count, 1), tasks_.size());
    start(count);
    for (Worker& worker : workers_) give(worker);
    while (done_ < tasks_.size()) {
      wait();
      processes.tick(done_, tasks_.size());
    }
  }

 private:
  /// As many as the system allows, at least one.
  void start(std::size_t count) {
    while (workers_.size() < count) try {
        workers_.emplace_back(work_);
      } catch (const InputError&) {
        if (workers_.empty()) throw;
        return;
      }
  }

  void renew(Worker& worker) {
    try {
      worker = Worker{work_};
    } catch (const InputError&) {
      if (worker.ended()) throw;  // else it goes on
    }
  }

  void give(Worker& worker) {
    if (next_ < tasks_.size()) worker.give(tasks_[next_++]);
  }

  void wait() {
    std::vector<pollfd> sockets;
    for (const Worker& worker : workers_) sockets.push_back({worker.busy() ? worker.socket() : -1, POLLIN, 0});
    if (poll(sockets.data(), sockets.size(), tick_milliseconds) < 0 && errno != EINTR) return;
    for (std::size_t i = 0; i < sockets.size(); ++i)
      if (sockets[i].revents != 0) hear(workers_[i]);
  }

  void hear(Worker& worker) {
    if (!worker.receive()) return;
    TaskEnd end = worker.take_end();
    if (worker.ended() || worker.tasks() >= tasks_of_a_process) {
      if (next_ < tasks_.size()) renew(worker);
    }
    give(worker);
    ++done_;
    ended_(std::move(end));
  }

  std::span<const std::size_t> tasks_;
  const std::function<std::string(std::size_t)>& work_;
  const std::function<void(TaskEnd)>& ended_;
  std::vector<Worker> workers_;
  std::size_t next_ = 0, done_ = 0;
};

}  // namespace

std::size_t usable_cores() { return std::max(1u, std::thread::hardware_concurrency()); }

void in_processes(const Processes& processes, std::span<const std::size_t> tasks,
                  const std::function<std::string(std::size_t)>& work, const std::function<void(TaskEnd)>& ended) {
  Pool{tasks, work, ended}.run(processes);
}

}  // namespace tilerail::study
