#pragma once

#include <string>

namespace tilerail {

/// Exclusive lock of a path between processes, held until destruction: a hidden file next
/// to the path, removed with the lock. Waits for other holders. A read followed by a
/// replacement under the lock loses no changes of other processes. Throws InputError with
/// the path and the reason.
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
