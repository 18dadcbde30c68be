#include "cli/output/interruption.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "cli/output/process.hpp"
#include "model/base/files.hpp"
#include "model/base/text.hpp"

namespace tilerail::cli {
namespace {

std::atomic<const std::string*> note{nullptr};
std::atomic<pid_t> owner_of_note{0};

/// The signal comes again, and then as if there had been no handler: so the caller sees what ended the program.
void clean_up(int number) {
  signal(SIGPIPE, SIG_IGN);  // whoever read stderr may be gone
  kill_running_process();
  discard_staged_files();
  if (const std::string* const line = note; line != nullptr && owner_of_note == getpid()) [[maybe_unused]]
    const ssize_t written = write(STDERR_FILENO, line->data(), line->size());  // or nobody reads it
  signal(number, SIG_DFL);
  kill(getpid(), number);  // the process, not this thread: it may be about to become another program
}

}  // namespace

void clean_up_on_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGXFSZ}) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = clean_up;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, nullptr);
  }
}

InterruptionNote::InterruptionNote(const std::string& text)
    : line_{fmt::format("{}tilerail: interrupted: {}\n", isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "", escaped(text))} {
  owner_of_note = getpid();
  note = &line_;
}

InterruptionNote::~InterruptionNote() { note = nullptr; }

}  // namespace tilerail::cli
