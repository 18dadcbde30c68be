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

[[noreturn]] void fail(const std::string& path, int error) {
  fail(path, std::generic_category().message(error));
}

fs::path folder_of(const fs::path& place, const std::string& path) {
  const fs::path folder = place.has_parent_path() ? place.parent_path() : fs::path{"."};
  std::error_code error;
  fs::path found = fs::canonical(folder, error);
  if (error) fail(path, fmt::format("the folder '{}' does not exist", folder.string()));
  return found;
}

/// The descriptor number of an entry of /proc. If the descriptor is a pipe, the link of
/// the entry has no path.
std::optional<int> descriptor_at(const fs::path& place) {
  std::error_code error;
  const fs::path folder = place.parent_path();
  if (folder != fs::canonical("/proc/self/fd", error) &&
      folder != fs::canonical("/proc/thread-self/fd", error))
    return std::nullopt;
  const auto number = number_in<int>(place.filename().string());
  return number && fcntl(*number, F_GETFD) >= 0 ? number : std::nullopt;
}

bool is_null_device(const struct stat& status) {
  return S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3);
}

std::optional<OutputIdentity> identity_of(const struct stat& status) {
  if (is_null_device(status)) return std::nullopt;
  return OutputIdentity{status.st_dev, status.st_ino};
}

}  // namespace

OutputTarget output_target(const std::string& path) {
  constexpr int most_links = 40;  // limit of the Linux kernel
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path, EISDIR);
  fs::path place{path};
  for (int links = 0; links <= most_links; ++links) {
    const fs::path name = place.filename();
    if (name.empty() || name == "." || name == "..") fail(path, EISDIR);
    const fs::path folder = folder_of(place, path);
    place = folder / name;
    if (const auto descriptor = descriptor_at(place))
      return {OutputTarget::Kind::descriptor, place, *descriptor};
    std::error_code error;
    const bool is_link = fs::is_symlink(place, error);
    if (error == std::errc::filename_too_long) fail(path, ENAMETOOLONG);
    if (!is_link) {
      // A link of /proc may refer to a pipe without a path; only the given path opens it.
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
  if (target.kind == OutputTarget::Kind::descriptor)
    return identity_of_descriptor(target.descriptor);
  if (stat(target.place.c_str(), &status) == 0) return identity_of(status);
  if (stat(target.place.parent_path().c_str(), &status) != 0) return std::nullopt;
  return OutputIdentity{status.st_dev, status.st_ino, target.place.filename().string()};
}

}  // namespace tilerail
