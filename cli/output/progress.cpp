#include "cli/output/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "model/base/threads.hpp"

namespace tilerail::cli {
namespace {

constexpr int quiet_seconds = 2;  // shorter work says nothing

}  // namespace

Progress::Progress(std::string what) : what_{std::move(what)} {
  if (isatty(STDERR_FILENO) == 1) try {
      thread_ = start_thread([this] { show_until_done(); });
    } catch (const ThreadShortage&) {  // the work goes on without
    }
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock{mutex_};
    done_ = true;
  }
  woken_.notify_one();
  thread_.join();
}

void Progress::show_until_done() {
  std::unique_lock lock{mutex_};
  for (int second = 1; !woken_.wait_for(lock, std::chrono::seconds{1}, [this] { return done_; }); ++second) {
    if (second > quiet_seconds) std::fputs(fmt::format("\r{} ... {} s ", what_, second).c_str(), stderr);
  }
  std::fputs("\r\033[K", stderr);
}

CountedProgress::CountedProgress(std::string what) : what_{std::move(what)} {}

CountedProgress::~CountedProgress() {
  if (visible_) std::fputs("\r\033[K", stderr);
}

void CountedProgress::show(size_t done, size_t all) {
  constexpr std::chrono::milliseconds pause{500};
  const Clock::time_point now = Clock::now();
  if (all != all_ || done < done_) counting_ = now;  // another row of tasks
  done_ = done, all_ = all;
  if (now - begin_ < std::chrono::seconds{quiet_seconds} || now - shown_ < pause || isatty(STDERR_FILENO) != 1) return;
  shown_ = now, visible_ = true;
  const double spent = std::chrono::duration<double>(now - counting_).count();
  const std::string left = done == 0 ? "" : fmt::format(", {:.0f} s left", spent * double(all - done) / double(done));
  std::fputs(fmt::format("\r{} ... {} of {}{} \033[K", what_, done, all, left).c_str(), stderr);
}

}  // namespace tilerail::cli
