#include "model/base/file_access.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "model/base/error.hpp"

namespace tilerail {

void fail_access(const std::string& action, const std::string& path, int error) {
  throw InputError{
      "", path,
      fmt::format("cannot be {}: {}", action, std::generic_category().message(error))};
}

void write_whole(int descriptor, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_access("written", path, errno);
    text.remove_prefix(size_t(written));
  }
}

}  // namespace tilerail
