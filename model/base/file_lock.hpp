#pragma once

#include <string>

namespace tilerail {

/// While it lives, no other process holds the lock of this path: a hidden file beside it,
/// which goes with the lock. Waits for others. What is read and then replaced under it
/// loses no change of another process. Throws InputError naming the path and the reason.
class FileLock {
 public:
  explicit FileLock(const std::string& path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  bool try_lock(const std::string& path);

  std::string name_;
  int file_ = -1;
};

}  // namespace tilerail
