#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tilerail {

/// Bad input: a file, an argument, a matrix or a machine. The message names the place, the value and what was
/// expected. The command line turns it into exit code 2.
struct InputError : std::runtime_error {
  explicit InputError(const std::string& message) : std::runtime_error{without_nul(message)} {}

 private:
  /// what() ends at the first NUL, which names in files may hold: it is written "\x00" instead.
  static std::string without_nul(std::string text) {
    for (std::size_t at; (at = text.find('\0')) != std::string::npos;) text.replace(at, 1, "\\x00");
    return text;
  }
};

/// Several of them, each a message of its own. The command line prints a line for each.
struct InputErrors : InputError {
  explicit InputErrors(std::vector<std::string> all)
      : InputError{all.size() == 1 ? all.front() : std::to_string(all.size()) + " errors, the first: " + all.front()},
        messages{std::move(all)} {}
  std::vector<std::string> messages;  // at least one
};

/// The hardware that was asked for is not there. The command line turns it into exit code 3.
struct HardwareError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Hardware that is there failed while it worked. The command line turns it into exit code 3, too.
struct ExecutionError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace tilerail
