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
#include "model/base/file_access.hpp"

namespace tilerail {
namespace {

namespace fs = std::filesystem;

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
  int release() { return std::exchange(descriptor_, -1); }
  /// Reports errors of delayed writes. Returns errno or 0.
  int close() { return ::close(release()) == 0 ? 0 : errno; }

 private:
  int descriptor_;
};

// files that must not be read
std::map<std::pair<dev_t, ino_t>, InputError> refused_files;

void close_written(File& file, const std::string& path) {
  if (const int error = file.close()) fail_access("written", path, error);
}

void check_refused(const struct stat& status, const std::string& path) {
  if (const auto refused = refused_files.find({status.st_dev, status.st_ino});
      refused != refused_files.end())
    throw InputError{refused->second.subject, refused->second.value,
                     fmt::format("is read as '{}', too", path), "a file of its own"};
}

/// Opens a file that can be read: not a folder, not an endless device.
int open_to_read(const std::string& path) {
  File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0)
    fail_access("read", path, errno);
  if (S_ISDIR(status.st_mode)) fail_access("read", path, EISDIR);
  if (S_ISCHR(status.st_mode) &&
      ::isatty(file.get()) == 0)  // such as /dev/zero, which never ends
    throw InputError{"", path, "cannot be read: it is a device",
                     "a file, a pipe or a terminal"};
  check_refused(status, path);
  return file.release();
}

/// Opens a device or a pipe anew, and duplicates a descriptor of this process. Content
/// that is already there remains before the new content.
void write_in_place(const OutputTarget& target, const std::string& path,
                    std::string_view content) {
  const bool is_open = target.kind == OutputTarget::Kind::descriptor;
  File file{is_open ? ::fcntl(target.descriptor, F_DUPFD_CLOEXEC, 0)
                    : ::open(target.place.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY)};
  if (file.get() < 0) fail_access("written", path, errno);
  write_whole(file.get(), content, path);
  close_written(file, path);
}

}  // namespace

/// An entry of a list that only grows, so that a signal handler can walk it at any time.
struct StagedName {
  std::string name;
  std::atomic<bool> there{true};
  StagedName* next = nullptr;
};

namespace {

std::atomic<StagedName*> staged_names{nullptr};  // newest first

/// ".tilerail-process-number.extension" next to `place`, a name that no file has yet.
/// Long extensions are cut.
std::string hidden_name(const fs::path& place) {
  constexpr size_t longest_extension = 32;
  const std::string extension = place.extension().string().substr(0, longest_extension);
  for (int number = 0;; ++number) {
    const fs::path hidden =
        place.parent_path() /
        fmt::format(".tilerail-{}-{}{}", ::getpid(), number, extension);
    if (!fs::exists(fs::symlink_status(hidden))) return hidden.string();
  }
}

/// Adds the name to the list before the file exists, so that a signal misses no file.
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
  for (StagedName* each = staged_names.load(); each != nullptr; each = each->next)
    discard(*each);
}

StagedFile::StagedFile(const std::string& path, std::string_view content)
    : StagedFile{path, [&](const TextSink& sink) { sink(content); }} {}

StagedFile::StagedFile(const std::string& path, const TextSource& content)
    : path_{path}, target_{output_target(path)} {
  if (!replaces_file()) {
    content([this](std::string_view piece) { content_ += piece; });
    return;
  }
  struct stat status {};
  const bool exists = ::stat(target_.place.c_str(), &status) == 0;
  name_ = listed(hidden_name(target_.place));
  try {
    File file{::open(name_->name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)};
    if (file.get() < 0) fail_access("written", path, errno);
    if (exists) (void)::fchmod(file.get(), status.st_mode & 07777);
    content([&](std::string_view piece) { write_whole(file.get(), piece, path); });
    close_written(file, path);
  } catch (...) {
    discard(*name_);
    throw;
  }
}

StagedFile::StagedFile(StagedFile&& other) noexcept
    : path_{std::move(other.path_)},
      target_{std::move(other.target_)},
      name_{std::exchange(other.name_, nullptr)},
      content_{std::move(other.content_)} {}

StagedFile::~StagedFile() {
  if (name_) discard(*name_);
}

std::string StagedFile::staged() const { return name_ ? name_->name : ""; }

void StagedFile::commit() {
  if (!replaces_file()) return write_in_place(target_, path_, content_);
  if (::rename(name_->name.c_str(), target_.place.c_str()) != 0)
    fail_access("written", path_, errno);
  std::exchange(name_, nullptr)->there = false;
}

void refuse_to_read(const std::string& path, const std::string& subject) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode))
    refused_files.emplace(std::pair{status.st_dev, status.st_ino},
                          InputError{subject, path, ""});
}

InputFile::InputFile(const std::string& path)
    : buffer_{open_to_read(path), std::ios::in | std::ios::binary}, stream_{&buffer_} {}

std::string read_file(const std::string& path) {
  InputFile file{path};
  return {std::istreambuf_iterator<char>{file.stream()}, {}};
}

}  // namespace tilerail
