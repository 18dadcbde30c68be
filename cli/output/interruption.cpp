#include "cli/output/interruption.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "model/base/files.hpp"
#include "model/base/text.hpp"

namespace tilerail::cli {
namespace {

constexpr int nothing = 0, waited_for = -1;
std::atomic<int> stop_signal{nothing};  // or the first signal of a StopRequest

bool only_asks(int number) {
  int expected = waited_for;
  const bool can_wait = number == SIGINT || number == SIGTERM || number == SIGHUP;
  return can_wait && stop_signal.compare_exchange_strong(expected, number);
}

/// Raises the signal again with the default action, so the parent process sees it as the
/// cause of death.
void end_by(int number) {
  signal(number, SIG_DFL);
  raise(number);
}

void clean_up(int number) {
  if (only_asks(number)) return;
  discard_staged_files();
  end_by(number);
}

}  // namespace

void clean_up_on_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGXFSZ}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN)
      continue;
    action = {};
    action.sa_handler = clean_up;
    action.sa_flags = SA_RESTART;  // restarts system calls if work continues
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

StopRequest::StopRequest() { stop_signal = waited_for; }
StopRequest::~StopRequest() { stop_signal = nothing; }
bool StopRequest::is_asked() const { return stop_signal > nothing; }

void StopRequest::end_program(const std::string& progress) const {
  signal(SIGPIPE, SIG_IGN);  // the reader of stderr may be gone
  std::fputs(fmt::format("{}tilerail: interrupted {}\n",
                         isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "", escaped(progress))
                 .c_str(),
             stderr);
  end_by(stop_signal);
  std::_Exit(128 + stop_signal);  // if the signal is blocked
}

}  // namespace tilerail::cli
