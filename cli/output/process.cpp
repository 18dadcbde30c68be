#include "cli/output/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

#include "model/base/indices.hpp"

namespace tilerail::cli {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

/// The added entries and those of ours that they do not replace.
std::vector<std::string> with_environment(std::vector<std::string> added) {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    bool replaced = false;
    for (const std::string& other : added) {
      replaced = replaced || other.substr(0, other.find('=')) == text.substr(0, text.find('='));
    }
    if (!replaced) added.push_back(text);
  }
  return added;
}

/// The ends of a pipe, the one to read first.
struct Channel {
  std::array<int, 2> ends{-1, -1};
  Channel() { opened = pipe2(ends.data(), O_CLOEXEC) == 0; }
  ~Channel() {
    for (const int end : ends)
      if (end >= 0) close(end);
  }
  void close_writer() { close(std::exchange(ends[1], -1)); }
  bool opened = false;
};

/// Reads both to their ends, whichever has something.
void read_to_end(const Channel& output, const Channel& errors, ProcessResult& result) {
  std::array<pollfd, 2> open{{{output.ends[0], POLLIN, 0}, {errors.ends[0], POLLIN, 0}}};
  const std::array texts{&result.output, &result.errors};
  std::vector<char> block(1 << 16);
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    if (poll(open.data(), open.size(), -1) < 0 && errno != EINTR) return;
    for (const auto i : indices(open)) {
      if (open[i].fd < 0 || open[i].revents == 0) continue;
      const ssize_t got = read(open[i].fd, block.data(), block.size());
      if (got < 0 && errno == EINTR) continue;
      if (got > 0)
        texts[i]->append(block.data(), size_t(got));
      else
        open[i].fd = -1;  // poll() leaves it out
    }
  }
}

constexpr pid_t none = 0, starting = -1;
std::atomic<pid_t> running{none};

/// Starts a program with these as its stdout and stderr and remembers it. Returns an errno, 0 if it was started.
int spawn(const std::vector<std::string>& command, const std::vector<std::string>& environment, int output,
          int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  // Until the number is known, a signal handler could not end the program: those of this thread wait, others' spin.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &before);
  running = starting;
  const std::vector<std::string> full = with_environment(environment);
  pid_t child = none;
  const int error = posix_spawnp(&child, command.front().c_str(), &actions, &attributes, pointers(command).data(),
                                 pointers(full).data());
  running = error == 0 ? child : none;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  Channel output, errors;
  if (!output.opened || !errors.opened) return {ProcessResult::End::not_started, errno, "", ""};
  if (const int error = spawn(command, environment, output.ends[1], errors.ends[1]); error != 0) {
    const bool missing = error == ENOENT || error == EACCES;
    return {missing ? ProcessResult::End::not_found : ProcessResult::End::not_started, error, "", ""};
  }
  const pid_t child = running;
  output.close_writer(), errors.close_writer();
  ProcessResult result;
  read_to_end(output, errors, result);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  running = none;
  const bool exited = WIFEXITED(status);
  result.end = exited ? ProcessResult::End::exited : ProcessResult::End::killed;
  result.code = exited ? WEXITSTATUS(status) : WTERMSIG(status);
  return result;
}

void kill_running_process() noexcept {
  pid_t child = running;
  while (child == starting) child = running;
  if (child != none) kill(child, SIGKILL);
}

}  // namespace tilerail::cli
