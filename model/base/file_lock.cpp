#include "model/base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/output_target.hpp"

namespace tilerail {
namespace {

namespace fs = std::filesystem;

/// The same for all paths of a file.
std::string lock_name(const std::string& path) {
  const fs::path place = output_target(path).place;
  return (place.parent_path() / ("." + place.filename().string() + ".lock")).string();
}

}  // namespace

FileLock::FileLock(const std::string& path) : name_{lock_name(path)} {
  while (!try_lock(path)) {
  }
}

FileLock::~FileLock() {
  unlink(name_.c_str());  // before the lock is released, so that a waiting process finds
                          // that its file has lost the name
  close(file_);
}

/// False if another process has removed the name of the locked file.
bool FileLock::try_lock(const std::string& path) {
  file_ = open(name_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  int failed = 0;
  do failed = file_ >= 0 && flock(file_, LOCK_EX) == 0 ? 0 : errno;
  while (failed == EINTR);
  struct stat held {
  }, named{};
  if (failed == 0 && fstat(file_, &held) == 0 && stat(name_.c_str(), &named) == 0 &&
      held.st_dev == named.st_dev && held.st_ino == named.st_ino)
    return true;
  if (file_ >= 0) close(std::exchange(file_, -1));
  if (failed != 0)
    throw InputError{"", path,
                     "cannot be locked: " + std::generic_category().message(failed)};
  return false;
}

}  // namespace tilerail
