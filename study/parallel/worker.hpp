#pragma once

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <string>

#include "study/parallel/processes.hpp"

namespace tilerail::study {

/// A process that does tasks, one after another, and the socket between it and us. It ends with us.
class Worker {
 public:
  /// Throws InputError when it cannot be started.
  explicit Worker(const std::function<std::string(std::size_t)>& work);
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&& other) noexcept;
  ~Worker();

  int socket() const { return socket_; }
  int tasks() const { return tasks_; }         // that were given to it
  bool ended() const { return process_ < 0; }  // and can be given none
  bool busy() const { return busy_; }

  void give(std::size_t task);
  /// Reads what is there; true when the task has ended.
  bool receive();
  TaskEnd take_end();

 private:
  void stop() noexcept;
  TaskEnd end_of_process();

  int socket_ = -1;
  pid_t process_ = -1;
  std::size_t task_ = 0;
  int tasks_ = 0;
  std::string received_;
  bool busy_ = false, gone_ = false;
};

}  // namespace tilerail::study
