#include "model/base/files.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

[[noreturn]] void fail(const std::string& action, const std::string& path, int error) {
  throw InputError{fmt::format("cannot {} '{}': {}", action, path, std::generic_category().message(error))};
}

/// Owns an open file; `discard` names a file to remove unless `keep` was called.
class File {
 public:
  File(int descriptor, std::string discard) : descriptor_{descriptor}, discard_{std::move(discard)} {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!discard_.empty()) ::unlink(discard_.c_str());
  }
  int get() const { return descriptor_; }
  void keep() { discard_.clear(); }
  /// Errors of delayed writes appear here. Returns errno or 0.
  int close() {
    const int failed = ::close(descriptor_) == 0 ? 0 : errno;
    descriptor_ = -1;
    return failed;
  }

 private:
  int descriptor_;
  std::string discard_;
};

/// Returns errno or 0.
int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

/// The file behind links, so that a link stays a link. A path that does not exist yet is returned as it is.
std::string target_of(const std::string& path) {
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

void write_in_place(const std::string& path, std::string_view content) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) fail("write", path, errno);
  File file{descriptor, ""};
  if (const int error = write_all(descriptor, content)) fail("write", path, error);
  if (const int error = file.close()) fail("write", path, error);
}

}  // namespace

void write_file_atomically(const std::string& path, std::string_view content) {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("write", path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) return write_in_place(path, content);

  const std::string target = target_of(path);
  std::string temporary;
  int descriptor = -1;
  for (int attempt = 0; descriptor < 0; ++attempt) {
    temporary = fmt::format("{}.tmp-{}-{}", target, ::getpid(), attempt);
    descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0 && errno != EEXIST) fail("write", path, errno);
  }
  File file{descriptor, temporary};
  if (exists) (void)::fchmod(descriptor, status.st_mode & 07777);
  if (const int error = write_all(descriptor, content)) fail("write", path, error);
  if (const int error = file.close()) fail("write", path, error);
  if (::rename(temporary.c_str(), target.c_str()) != 0) fail("write", path, errno);
  file.keep();
}

std::string read_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("read", path, errno);
  const File file{descriptor, ""};
  struct stat status {};
  std::string content;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
    content.reserve(static_cast<std::size_t>(status.st_size) + 1);
  }
  constexpr std::size_t block = 1 << 16;
  while (true) {
    const std::size_t size = content.size();
    content.resize(size + block);
    const ssize_t got = ::read(file.get(), content.data() + size, block);
    const int error = errno;
    content.resize(size + (got > 0 ? static_cast<std::size_t>(got) : 0));
    if (got < 0 && error == EINTR) continue;
    if (got < 0) fail("read", path, error);
    if (got == 0) return content;
  }
}

}  // namespace tilerail
