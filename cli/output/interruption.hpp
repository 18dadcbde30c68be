#pragma once

#include <string>

namespace tilerail::cli {

/// From now on SIGINT, SIGTERM, SIGHUP, SIGQUIT and the signals of resource limits,
/// unless ignored, remove staged files and child processes before they end the program.
void clean_up_on_signals();

constexpr const char* nothing_is_kept = "nothing is kept; the same command begins anew";

/// While it exists, the first SIGINT, SIGTERM or SIGHUP only requests a stop, which the
/// work polls with is_asked(). A second one ends the program immediately. Only one may
/// exist at a time.
class StopRequest {
 public:
  StopRequest();
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  bool is_asked() const;
  /// After the first signal: prints "tilerail: interrupted NOTE" on stderr and ends the
  /// program with this signal.
  [[noreturn]] void end_program(const std::string& progress) const;
};

}  // namespace tilerail::cli
