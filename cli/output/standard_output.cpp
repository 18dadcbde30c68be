#include "cli/output/standard_output.hpp"

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "model/base/error.hpp"

namespace tilerail::cli {

void print(std::string_view text) {
  const size_t written = std::fwrite(text.data(), 1, text.size(), stdout);
  if (written == text.size() && std::fflush(stdout) == 0) return;
  throw InputError{"standard output could not be written: " + std::generic_category().message(errno)};
}

}  // namespace tilerail::cli
