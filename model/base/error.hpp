#pragma once

#include <stdexcept>

namespace tilerail {

/// Bad input: a file, an argument, a matrix or a machine. The message names the place, the value and what was
/// expected. The command line turns it into exit code 2.
struct InputError : std::runtime_error {
  using std::runtime_error::runtime_error;
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
