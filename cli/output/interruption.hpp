#pragma once

#include <string>

namespace tilerail::cli {

/// From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT and the signals of limits, unless they
/// are ignored, leave no staged file and no process of ours behind before they end the
/// program.
void clean_up_on_signals();

constexpr const char* nothing_is_kept = "nothing is kept; the same command begins anew";

/// While it lives, the first SIGINT, SIGTERM or SIGHUP only asks the work to stop, which
/// looks at is_asked() now and then; a second one ends the program at once. There is one
/// at a time.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  bool is_asked() const;
  /// After the first signal: says "tilerail: interrupted NOTE" on stderr and ends the
  /// program by that signal.
  [[noreturn]] void end_program(const std::string& progress) const;
};

}  // namespace tilerail::cli
