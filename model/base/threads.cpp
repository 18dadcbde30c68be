#include "model/base/threads.hpp"

#include <fmt/format.h>

#include <sched.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <mutex>
#include <numeric>
#include <system_error>

namespace tilerail {
namespace {

constexpr int no_limit = std::numeric_limits<int>::max();
std::atomic<int> admitted{no_limit};

[[noreturn]] void none_left(const char* why) {
  throw ThreadShortage{"",
                       {},
                       fmt::format("no more threads can be started ({})", why),
                       "a higher limit on processes and threads (ulimit -u)"};
}

/// Threads that the destructor joins.
class ThreadGroup {
 public:
  explicit ThreadGroup(size_t most) { threads_.reserve(most); }
  ~ThreadGroup() {
    for (std::thread& thread : threads_) thread.join();
  }
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;

  void start(std::function<void()> work) {
    threads_.push_back(start_thread(std::move(work)));
  }

 private:
  std::vector<std::thread> threads_;
};

/// The first exception of several threads.
class FirstFailure {
 public:
  template <class Work>
  void guard(const Work& work) noexcept {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock{mutex_};
      if (!failure_) failure_ = std::current_exception();
      failed_ = true;
    }
  }
  bool failed() const { return failed_; }
  /// Call after all threads have ended.
  void rethrow() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_{false};
};

}  // namespace

std::vector<int> usable_cores() {
  cpu_set_t set{};  // stays empty if the system has more than CPU_SETSIZE cores
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  if (cores.empty()) {
    cores.resize(std::max(1U, std::thread::hardware_concurrency()));
    std::iota(cores.begin(), cores.end(), 0);
  }
  return cores;
}

ThreadLimit::ThreadLimit(int threads) { admitted = threads; }
ThreadLimit::~ThreadLimit() { admitted = no_limit; }

bool ThreadLimit::admits_one() {
  int left = admitted;
  while (left != no_limit && left > 0 &&
         !admitted.compare_exchange_weak(left, left - 1)) {
  }
  return left > 0;
}

std::thread start_thread(std::function<void()> work) {
  if (!ThreadLimit::admits_one()) none_left("a limit of this process");
  try {
    return std::thread{std::move(work)};
  } catch (const std::system_error& error) {
    none_left(error.code().message().c_str());
  }
}

void share_work(size_t parts, size_t threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next{0};
  FirstFailure failure;
  const auto take_parts = [&] {
    failure.guard([&] {
      for (size_t part; !failure.failed() && (part = next++) < parts;) work(part);
    });
  };
  threads = std::min(threads, parts);
  {
    ThreadGroup others{threads};
    try {
      for (size_t t = 1; t < threads; ++t) others.start(take_parts);
    } catch (const ThreadShortage&) {  // the running threads do all parts
    }
    take_parts();
  }
  failure.rethrow();
}

void run_together(size_t count, const std::function<void(size_t)>& work) {
  FirstFailure failure;
  {
    ThreadGroup others{count};
    for (size_t i = 1; i < count; ++i)
      others.start([&, i] { failure.guard([&] { work(i); }); });
    if (count > 0) failure.guard([&] { work(0); });
  }
  failure.rethrow();
}

}  // namespace tilerail
