#include "model/base/output_target.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "model/base/error.hpp"
#include "model/base/number_text.hpp"

namespace tilerail {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw InputError{"", path, "cannot be written: " + reason};
}

[[noreturn]] void fail(const std::string& path, int error) { fail(path, std::generic_category().message(error)); }

fs::path folder_of(const fs::path& place, const std::string& path) {
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path{"."};
  std::error_code error;
  fs::path found = fs::canonical(folder, error);
  if (error) fail(path, fmt::format("the folder '{}' does not exist", folder.string()));
  return found;
}

/// The number of the descriptor that such an entry of /proc stands for. Its link leads to no path where it is a pipe.
std::optional<int> descriptor_at(const fs::path& place) {
  std::error_code error;
  const fs::path folder = place.parent_path();
  if (folder != fs::canonical("/proc/self/fd", error) && folder != fs::canonical("/proc/thread-self/fd", error))
    return std::nullopt;
  const auto number = number_in<int>(place.filename().string());
  return number && fcntl(*number, F_GETFD) >= 0 ? number : std::nullopt;
}

bool is_null_device(const struct stat& status) { return S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3); }

std::optional<OutputIdentity> identity_of(const struct stat& status) {
  if (is_null_device(status)) return std::nullopt;
  return OutputIdentity{status.st_dev, status.st_ino};
}

/// A write of no bytes changes nothing, and fails where a device takes none: /dev/full, for one.
void try_to_write(int descriptor, const std::string& path) {
  struct stat status {};
  if ((fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY) fail(path, "the descriptor is open for reading only");
  const bool is_character = fstat(descriptor, &status) == 0 && S_ISCHR(status.st_mode);
  if (is_character && write(descriptor, "", 0) < 0) fail(path, errno);
}

/// A new file cannot replace a mount point, an immutable file, or, in a folder with the sticky bit, the file of another
/// user.
void require_replaceable(const fs::path& place, const std::string& path) {
  struct statx file {
  }, folder{};
  const auto status = [](const fs::path& of, struct statx& found) {
    return statx(AT_FDCWD, of.c_str(), AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &found) == 0;
  };
  if (!status(place, file) || !status(place.parent_path(), folder)) return;
  const auto is = [&](uint64_t attribute) { return (file.stx_attributes & attribute) != 0; };
  if (is(STATX_ATTR_MOUNT_ROOT)) fail(path, EBUSY);
  const uid_t user = geteuid();
  const bool of_others = user != 0 && file.stx_uid != user && folder.stx_uid != user;
  if (is(STATX_ATTR_IMMUTABLE) || is(STATX_ATTR_APPEND) || ((folder.stx_mode & S_ISVTX) != 0 && of_others))
    fail(path, EPERM);
}

}  // namespace

OutputTarget output_target(const std::string& path) {
  constexpr int most_links = 40;  // as the kernel follows
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path, EISDIR);
  fs::path place{path};
  for (int links = 0; links <= most_links; ++links) {
    const fs::path name = place.filename();
    if (name.empty() || name == "." || name == "..") fail(path, EISDIR);
    const fs::path folder = folder_of(place, path);
    place = folder / name;
    if (const auto descriptor = descriptor_at(place)) return {OutputTarget::Kind::descriptor, place, *descriptor};
    std::error_code error;
    const bool is_link = fs::is_symlink(place, error);
    if (error == std::errc::filename_too_long) fail(path, ENAMETOOLONG);
    if (!is_link) {
      // A link of /proc may lead to a pipe that has no path: only the given path opens it.
      if (exists && !S_ISREG(status.st_mode)) return {OutputTarget::Kind::device, path};
      return {OutputTarget::Kind::file, place};
    }
    const fs::path target = fs::read_symlink(place, error);
    if (error) fail(path, error.value());
    place = folder / target;
  }
  fail(path, ELOOP);
}

std::optional<OutputIdentity> identity_of_descriptor(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 ? identity_of(status) : std::nullopt;
}

std::optional<OutputIdentity> identity_of(const OutputTarget& target) {
  struct stat status {};
  if (target.kind == OutputTarget::Kind::descriptor) return identity_of_descriptor(target.descriptor);
  if (stat(target.place.c_str(), &status) == 0) return identity_of(status);
  if (stat(target.place.parent_path().c_str(), &status) != 0) return std::nullopt;
  return OutputIdentity{status.st_dev, status.st_ino, target.place.filename().string()};
}

void require_writable(const OutputTarget& target, const std::string& path) {
  if (target.kind == OutputTarget::Kind::descriptor) return try_to_write(target.descriptor, path);
  if (target.kind == OutputTarget::Kind::file) return require_replaceable(target.place, path);
  struct stat status {};
  if (target.kind != OutputTarget::Kind::device || stat(target.place.c_str(), &status) != 0) return;
  if (S_ISSOCK(status.st_mode) || S_ISBLK(status.st_mode)) fail(path, "it is a socket or a disk");
  if (access(target.place.c_str(), W_OK) != 0) fail(path, errno);
  if (!S_ISCHR(status.st_mode)) return;  // whoever reads a pipe would see it end
  const int opened = open(target.place.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (opened < 0) fail(path, errno);
  try {
    try_to_write(opened, path);
  } catch (...) {
    close(opened);
    throw;
  }
  close(opened);
}

}  // namespace tilerail
