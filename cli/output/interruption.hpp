#pragma once

#include <string>

namespace tilerail::cli {

/// From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT and the signals of limits, unless they are ignored, leave no staged
/// file and no process of ours behind before they end the program.
void clean_up_on_signals();

/// While it lives, such a signal to this process, not to copies of it, says on stderr what is kept of the work and how
/// to go on: "tilerail: interrupted: NOTE". There is one at a time.
class InterruptionNote {
 public:
  explicit InterruptionNote(const std::string& note);
  ~InterruptionNote();
  InterruptionNote(const InterruptionNote&) = delete;
  InterruptionNote& operator=(const InterruptionNote&) = delete;

 private:
  std::string line_;
};

}  // namespace tilerail::cli
