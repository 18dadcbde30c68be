#include "model/base/line_log.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/file_access.hpp"

namespace tilerail {
namespace {

std::string content(int descriptor, const std::string& path) {
  std::string text;
  char piece[1 << 16];
  for (;;) {
    const ssize_t count = ::pread(descriptor, piece, sizeof piece, off_t(text.size()));
    if (count == 0) return text;
    if (count > 0) text.append(piece, size_t(count));
    if (count < 0 && errno != EINTR) fail_access("read", path, errno);
  }
}

}  // namespace

LineLog::LineLog(std::string path, std::string kind)
    : path_{std::move(path)}, kind_{std::move(kind)} {
  while (!open()) ::close(descriptor_);
  try {
    read();
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

LineLog::~LineLog() {
  if (size_ == 0 && is_named(descriptor_, path_)) ::unlink(path_.c_str());
  ::close(descriptor_);
}

/// Opens and locks the file. False: another process has removed it.
bool LineLog::open() {
  constexpr mode_t new_file_mode = 0666;
  descriptor_ =
      ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, new_file_mode);
  if (descriptor_ < 0) fail_access("written", path_, errno);
  int failed = 0;
  do failed = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
  while (failed == EINTR);
  if (failed != 0) ::close(descriptor_);
  if (failed == EWOULDBLOCK)
    throw InputError{"", path_, "is in use by another program", "another output file"};
  if (failed != 0) fail_access("locked", path_, failed);
  return is_named(descriptor_, path_);
}

/// Text after the last newline was cut off when a program was killed.
void LineLog::read() {
  const std::string text = content(descriptor_, path_);
  const std::string first = kind_ + "\n";
  if (!text.starts_with(first) && !first.starts_with(text))
    throw InputError{"", std::nullopt, "is not '" + kind_ + "'",
                     "this line; remove the file if it is obsolete", path_ + ":1"};
  if (!text.starts_with(first)) return;
  size_ = first.size();
  for (size_t end; (end = text.find('\n', size_)) != text.npos; size_ = end + 1)
    lines_.push_back(text.substr(size_, end - size_));
}

void LineLog::append(std::string_view line) {
  std::string text = size_ == 0 ? kind_ + "\n" : "";
  text += line;
  text += '\n';
  if (::ftruncate(descriptor_, off_t(size_)) != 0) fail_access("written", path_, errno);
  try {
    write_whole(descriptor_, text, path_);
  } catch (const InputError&) {
    if (::ftruncate(descriptor_, off_t(size_)) != 0) fail_access("written", path_, errno);
    throw;
  }
  size_ += text.size();
}

void LineLog::remove() {
  if (::unlink(path_.c_str()) != 0 && errno != ENOENT)
    fail_access("written", path_, errno);
}

}  // namespace tilerail
