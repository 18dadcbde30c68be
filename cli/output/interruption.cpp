#include "cli/output/interruption.hpp"

#include <signal.h>
#include <unistd.h>

#include "cli/output/process.hpp"
#include "model/base/files.hpp"

namespace tilerail::cli {
namespace {

/// The signal comes again, and then as if there had been no handler: so the caller sees what ended the program.
void clean_up(int number) {
  kill_running_process();
  discard_staged_files();
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

}  // namespace tilerail::cli
