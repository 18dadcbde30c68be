#include "model/base/file_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "model/base/file_access.hpp"
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
  if (failed == 0 && is_named(file_, name_)) return true;
  if (file_ >= 0) close(std::exchange(file_, -1));
  if (failed != 0) fail_access("locked", path, failed);
  return false;
}

}  // namespace tilerail
