#include "model/base/line_log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/files.hpp"

namespace tilerail {
namespace {

constexpr mode_t new_file_mode = 0666;

[[noreturn]] void fail(const std::string& path, int error) {
  throw InputError{"", path,
                   "cannot be written: " + std::generic_category().message(error)};
}

/// Text after the last newline was cut off when a program was killed.
std::vector<std::string> complete_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1))
    lines.emplace_back(text.substr(0, end));
  return lines;
}

}  // namespace

LineLog::LineLog(std::string path) : path_{std::move(path)} {
  open(0);
  if (descriptor_ < 0) return;
  const std::string text = read_file(path_);
  lines_ = complete_lines(text);
  if (::ftruncate(descriptor_, off_t(text.rfind('\n') + 1)) != 0) fail(path_, errno);
}

LineLog::~LineLog() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void LineLog::open(int flags) {
  descriptor_ =
      ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | flags, new_file_mode);
  if (descriptor_ < 0 && errno == ENOENT && flags == 0) return;
  if (descriptor_ < 0) fail(path_, errno);
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
    throw InputError{"", path_, "is in use by another program", "another output file"};
}

void LineLog::append(std::string_view line) {
  if (descriptor_ < 0) open(O_CREAT);
  std::string text{line};
  text += '\n';
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written >= 0)
      rest.remove_prefix(size_t(written));
    else if (errno != EINTR)
      fail(path_, errno);
  }
}

void LineLog::remove() {
  if (descriptor_ >= 0 && ::unlink(path_.c_str()) != 0) fail(path_, errno);
}

}  // namespace tilerail
