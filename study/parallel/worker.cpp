#include "study/parallel/worker.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <new>
#include <utility>

#include "model/base/error.hpp"

namespace tilerail::study {
namespace {

/// Before the text of an answer.
struct Header {
  std::uint64_t size = 0;
  bool failed = false, no_hardware = false;
};

bool send_all(int socket, const void* data, std::size_t size) {
  const char* next = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t sent = send(socket, next, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    next += sent, size -= static_cast<std::size_t>(sent);
  }
  return true;
}

TaskEnd end_of(const std::function<std::string(std::size_t)>& work, std::size_t task) {
  try {
    return {task, false, work(task)};
  } catch (const InputError& error) {
    return {task, true, error.what()};
  } catch (const HardwareError& error) {
    return {task, true, error.what(), true};
  } catch (const ExecutionError& error) {
    return {task, true, error.what()};
  } catch (const std::bad_alloc&) {
    return {task, true, "it does not fit in the memory of this machine"};
  } catch (const std::exception& error) {
    return {task, true, fmt::format("internal error: {}", error.what())};
  }
}

/// Until nobody asks any more.
[[noreturn]] void serve(int socket, const std::function<std::string(std::size_t)>& work) {
  std::uint64_t task = 0;
  while (true) {
    const ssize_t got = recv(socket, &task, sizeof task, MSG_WAITALL);
    if (got < 0 && errno == EINTR) continue;
    if (got != sizeof task) break;
    const TaskEnd end = end_of(work, task);
    Header header{};
    header.size = end.text.size(), header.failed = end.failed, header.no_hardware = end.no_hardware;
    if (!send_all(socket, &header, sizeof header) || !send_all(socket, end.text.data(), end.text.size())) break;
  }
  _exit(0);  // what the process inherited is not its own to write or to remove
}

[[noreturn]] void fail(int error) {
  throw InputError{
      fmt::format("--jobs: a process that simulates cannot be started: {}; expected limits on processes and "
                  "open files (ulimit -u, ulimit -n) that allow it",
                  strerror(error))};
}

}  // namespace

Worker::Worker(const std::function<std::string(std::size_t)>& work) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) fail(errno);
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    close(ends[0]);
    serve(ends[1], work);
  }
  const int error = errno;
  close(ends[1]);
  socket_ = ends[0];
  if (process_ > 0) return;
  stop();
  fail(error);
}

Worker::Worker(Worker&& other) noexcept
    : socket_{std::exchange(other.socket_, -1)},
      process_{std::exchange(other.process_, -1)},
      task_{other.task_},
      tasks_{other.tasks_},
      received_{std::move(other.received_)},
      busy_{other.busy_},
      gone_{other.gone_} {}

Worker& Worker::operator=(Worker&& other) noexcept {
  stop();
  socket_ = std::exchange(other.socket_, -1), process_ = std::exchange(other.process_, -1);
  task_ = other.task_, tasks_ = other.tasks_, received_ = std::move(other.received_);
  busy_ = other.busy_, gone_ = other.gone_;
  return *this;
}

Worker::~Worker() { stop(); }

void Worker::stop() noexcept {
  if (socket_ >= 0) close(std::exchange(socket_, -1));
  if (process_ <= 0) return;
  kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
}

void Worker::give(std::size_t task) {
  const std::uint64_t number = task_ = task;
  ++tasks_, busy_ = true;
  received_.clear();
  gone_ = !send_all(socket_, &number, sizeof number);  // the next receive() finds the same
}

bool Worker::receive() {
  std::array<char, 1 << 16> block;
  const ssize_t got = recv(socket_, block.data(), block.size(), 0);
  if (got < 0 && errno == EINTR) return false;
  gone_ = got <= 0;
  if (gone_) return true;
  received_.append(block.data(), static_cast<std::size_t>(got));
  Header header;
  if (received_.size() < sizeof header) return false;
  memcpy(&header, received_.data(), sizeof header);
  return received_.size() == sizeof header + header.size;
}

TaskEnd Worker::take_end() {
  busy_ = false;
  if (gone_) return end_of_process();
  Header header;
  memcpy(&header, received_.data(), sizeof header);
  return {task_, header.failed, received_.substr(sizeof header), header.no_hardware};
}

TaskEnd Worker::end_of_process() {
  int status = 0;
  while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  close(std::exchange(socket_, -1));
  const std::string how = WIFSIGNALED(status)
                              ? fmt::format("signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                              : fmt::format("exit code {}", WEXITSTATUS(status));
  return {task_, true, fmt::format("its process ended: {}; is there enough memory?", how)};
}

}  // namespace tilerail::study
