#include "cli/output/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace tilerail::cli {

Progress::Progress(std::string what) : what_{std::move(what)} { write(what_ + " ... "); }

Progress::~Progress() { write(""); }

void Progress::show(size_t done, size_t all) {
  constexpr std::chrono::milliseconds pause{500};
  const Clock::time_point now = Clock::now();
  if (all != all_ || done < done_) begin_ = now;  // a new series of tasks
  done_ = done, all_ = all;
  if (done == 0 || now - shown_ < pause) return;
  shown_ = now;
  const double spent = std::chrono::duration<double>(now - begin_).count();
  write(fmt::format("{} ... {} of {}, {:.0f} s left ", what_, done, all,
                    spent * double(all - done) / double(done)));
}

void Progress::write(const std::string& text) const {
  if (isatty(STDERR_FILENO) == 1) std::fputs(("\r\033[K" + text).c_str(), stderr);
}

}  // namespace tilerail::cli
