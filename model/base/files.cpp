#include "model/base/files.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& action, const std::string& path, int error) {
  throw InputError{fmt::format("cannot {} '{}': {}", action, path, std::generic_category().message(error))};
}

/// Owns an open file.
class File {
 public:
  explicit File(int descriptor) : descriptor_{descriptor} {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  /// Errors of delayed writes appear here. Returns errno or 0.
  int close() { return ::close(std::exchange(descriptor_, -1)) == 0 ? 0 : errno; }

 private:
  int descriptor_;
};

std::map<std::pair<dev_t, ino_t>, std::string> refused_files;  // what read_file() does not read

/// Writes and closes. Returns errno or 0.
int write_all(File& file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(file.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return file.close();
}

/// The file behind links. A path that does not exist yet is returned as it is.
std::string target_of(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  return error ? path : target.string();
}

void write_in_place(const std::string& path, std::string_view content) {
  File file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
  if (file.get() < 0) fail("write", path, errno);
  if (const int error = write_all(file, content)) fail("write", path, error);
}

}  // namespace

/// One of a list that only grows, so that a signal handler can walk it at any time.
struct StagedName {
  std::string name;
  std::atomic<bool> there{true};
  StagedName* next = nullptr;
};

namespace {

std::atomic<StagedName*> staged_names{nullptr};  // the newest first

/// ".stem.process-number.extension" beside `place`, such that no file has that name.
std::string hidden_name(const fs::path& place) {
  for (int number = 0;; ++number) {
    const std::string unique = fmt::format("{}-{}", ::getpid(), number);
    fs::path hidden = place.parent_path();
    hidden /= "." + place.stem().string() + "." + unique + place.extension().string();
    struct stat status {};
    if (::lstat(hidden.c_str(), &status) != 0) return hidden.string();
  }
}

/// Puts the name into the list before there is a file, so that a signal forgets none.
StagedName* listed(std::string name) {
  auto* const made = new StagedName{std::move(name)};
  made->next = staged_names.load();
  while (!staged_names.compare_exchange_weak(made->next, made)) {
  }
  return made;
}

void discard(StagedName& name) noexcept {
  if (name.there.exchange(false)) ::unlink(name.name.c_str());
}

}  // namespace

void discard_staged_files() noexcept {
  for (StagedName* each = staged_names.load(); each != nullptr; each = each->next) discard(*each);
}

StagedFile::StagedFile(const std::string& path, std::string_view content) : path_{path}, place_{target_of(path)} {
  struct stat status {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail("write", path, EISDIR);
  if (exists && !S_ISREG(status.st_mode)) {
    content_ = content;
    return;
  }
  name_ = listed(hidden_name(place_));
  File file{::open(name_->name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
  int error = file.get() < 0 ? errno : 0;
  if (error == 0 && exists) (void)::fchmod(file.get(), status.st_mode & 07777);
  if (error == 0) error = write_all(file, content);
  if (error == 0) return;
  discard(*name_);
  fail("write", path, error);
}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : path_{std::move(other.path_)},
      place_{std::move(other.place_)},
      name_{std::exchange(other.name_, nullptr)},
      content_{std::move(other.content_)} {}

StagedFile::~StagedFile() {
  if (name_) discard(*name_);
}

std::string StagedFile::staged() const { return name_ ? name_->name : ""; }

void StagedFile::commit() {
  if (!name_) return write_in_place(path_, content_);
  if (::rename(name_->name.c_str(), place_.c_str()) != 0) fail("write", path_, errno);
  std::exchange(name_, nullptr)->there = false;
}

void refuse_to_read(const std::string& path, const std::string& what) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode))
    refused_files.emplace(std::pair{status.st_dev, status.st_ino}, what);
}

std::string read_file(const std::string& path) {
  const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.get() < 0) fail("read", path, errno);
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail("read", path, errno);
  if (S_ISCHR(status.st_mode) && ::isatty(file.get()) == 0)  // such as /dev/zero, which never ends
    throw InputError{fmt::format("cannot read '{}': it is a device; expected a file, a pipe or a terminal", path)};
  if (const auto refused = refused_files.find({status.st_dev, status.st_ino}); refused != refused_files.end())
    throw InputError{fmt::format("{} is read as '{}', too; expected a file of its own", refused->second, path)};
  std::string content;
  if (S_ISREG(status.st_mode)) content.reserve(static_cast<std::size_t>(status.st_size) + 1);
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
