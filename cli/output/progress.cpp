#include "cli/output/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <utility>

namespace tilerail::cli {
namespace {

constexpr int quiet_seconds = 2;  // shorter work says nothing

}  // namespace

Progress::Progress(std::string what) : what_{std::move(what)} {
  if (isatty(STDERR_FILENO) == 1) thread_ = std::thread{[this] { show_until_done(); }};
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

}  // namespace tilerail::cli
