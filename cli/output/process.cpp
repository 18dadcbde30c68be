#include "cli/output/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace tilerail::cli {
namespace {

constexpr int not_started = 127;

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

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> block{};
  while (true) {
    const ssize_t got = read(descriptor, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  std::array<int, 2> channel{};
  if (pipe2(channel.data(), O_CLOEXEC) != 0) return {not_started, "no pipe"};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, channel[1], STDERR_FILENO);

  const std::vector<std::string> full = with_environment(environment);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, command.front().c_str(), &actions, nullptr, pointers(command).data(), pointers(full).data());
  posix_spawn_file_actions_destroy(&actions);
  close(channel[1]);
  ProcessResult result{not_started, "could not be started"};
  if (error == 0) {
    result.errors = read_to_end(channel[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : not_started;
  }
  close(channel[0]);
  return result;
}

}  // namespace tilerail::cli
