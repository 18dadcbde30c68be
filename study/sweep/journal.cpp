#include "study/sweep/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/units_text.hpp"

namespace tilerail::study {
namespace {

[[noreturn]] void fail(const std::string& action, const std::string& path) {
  throw InputError{fmt::format("cannot {} '{}': {}", action, path, std::generic_category().message(errno))};
}

/// "12 {...}": the point and its text; false for another line.
bool read_line(std::string_view line, std::pair<std::size_t, std::string>& read) {
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), read.first);
  const auto blank = static_cast<std::size_t>(end - line.data());
  if (error != std::errc{} || blank + 1 >= line.size() || line[blank] != ' ') return false;
  read.second = line.substr(blank + 1);
  return true;
}

}  // namespace

Journal::Journal(std::string path, const std::string& header) : path_{std::move(path)} {
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file_ < 0) fail("write", path_);
  struct flock lock {};
  lock.l_type = F_WRLCK, lock.l_whence = SEEK_SET;  // of this process alone, not of those that it starts
  if (fcntl(file_, F_SETLK, &lock) != 0) {
    close(std::exchange(file_, -1));
    throw InputError{fmt::format("'{}' is in use: another sweep writes the same output", path_)};
  }
  try {
    read_lines(header);
  } catch (...) {
    close(std::exchange(file_, -1));
    throw;
  }
}

Journal::~Journal() {
  if (file_ >= 0) close(file_);
}

/// By this descriptor: where another one of the file is closed, the lock goes.
std::string Journal::content() const {
  std::string text;
  constexpr std::size_t block = 1 << 16;
  while (true) {
    const std::size_t size = text.size();
    text.resize(size + block);
    const ssize_t got = pread(file_, text.data() + size, block, static_cast<off_t>(size));
    text.resize(size + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("read", path_);
    if (got == 0) return text;
  }
}

/// A last line without its end was being written when the process ended: it is cut off.
void Journal::read_lines(const std::string& header) {
  const std::string text = content();
  const std::size_t whole = text.find_last_of('\n') + 1;  // 0 without any
  const std::string_view first = std::string_view{text}.substr(0, text.find('\n'));
  if (whole == 0 ? !header.starts_with(first) : first != header)
    throw InputError{fmt::format("{} begins with {}; expected {}: remove it or name another output", in_quotes(path_),
                                 in_quotes(first), in_quotes(header))};
  for (std::size_t begin = first.size() + 1, number = 2; begin < whole; ++number) {
    const std::size_t end = text.find('\n', begin);
    std::pair<std::size_t, std::string> read;
    if (!read_line(std::string_view{text}.substr(begin, end - begin), read))
      throw InputError{fmt::format("{}:{} is no line of a journal; remove the file to begin anew", path_, number)};
    lines_[read.first] = number;
    done_.insert_or_assign(read.first, std::move(read.second));
    begin = end + 1;
  }
  if (whole < text.size() && ftruncate(file_, static_cast<off_t>(whole)) != 0) fail("write", path_);
  if (whole == 0) append(header + "\n");
}

void Journal::refuse(std::size_t point, const std::string& message) const {
  throw InputError{fmt::format("{}:{}: {}; remove the file to begin anew", path_, lines_.at(point), message)};
}

void Journal::add(std::size_t point, const std::string& text) { append(fmt::format("{} {}\n", point, text)); }

void Journal::append(const std::string& line) {
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = write(file_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path_);
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void Journal::remove() { unlink(path_.c_str()); }

}  // namespace tilerail::study
