#include "model/base/file_access.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
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

bool is_named(int descriptor, const std::string& path) {
  struct stat opened = {};
  struct stat named = {};
  return ::fstat(descriptor, &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
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
