#include "cli/output/painter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "study/program_files.hpp"

namespace tilerail::cli {
namespace {

std::atomic<pid_t> running{0};

/// An in-memory file for a program's output.
class Capture {
 public:
  Capture() : descriptor_{memfd_create("output", MFD_CLOEXEC)} {}
  ~Capture() { close(descriptor_); }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  int descriptor() const { return descriptor_; }
  std::string text() const {
    std::string text(size_t(std::max<off_t>(0, lseek(descriptor_, 0, SEEK_END))), '\0');
    text.resize(
        size_t(std::max<ssize_t>(0, pread(descriptor_, text.data(), text.size(), 0))));
    return text;
  }

 private:
  int descriptor_;
};

/// The last line without the program's name, which precedes errors of the package.
std::string last_line(std::string_view text) {
  constexpr std::string_view program = "tilerail: ";
  while (text.ends_with('\n')) text.remove_suffix(1);
  text.remove_prefix(text.find_last_of('\n') + 1);
  if (text.starts_with(program)) text.remove_prefix(program.size());
  return std::string{text};
}

/// Starts a program from PATH with these files as stdout and stderr. Returns an errno, 0
/// for success.
int start(const std::vector<std::string>& command, const Capture& output,
          const Capture& errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.descriptor(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.descriptor(), STDERR_FILENO);
  std::vector<char*> words;
  for (const std::string& word : command)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  // Blocks signals until the child's process id is stored: only then can the handler end
  // the child.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&attributes, &before);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, words.front(), &actions, &attributes, words.data(), environ);
  if (error == 0) running = child;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

struct ProcessResult {
  std::string output,
      fault;  // the last line of stderr, or how the program ended; "" after success
};

/// Runs a program to its end.
ProcessResult run_to_end(const std::vector<std::string>& command) {
  const std::string& program = command.front();
  const Capture output, errors;
  if (const int error = start(command, output, errors); error != 0)
    return {"",
            fmt::format("{} could not be started: {}", program, std::strerror(error))};
  int status = 0;
  while (waitpid(running, &status, 0) < 0 && errno == EINTR) {
  }
  running = 0;
  if (status == 0) return {output.text(), ""};
  if (WIFSIGNALED(status))
    return {"", fmt::format("{} was ended by signal {} ({})", program, WTERMSIG(status),
                            strsignal(WTERMSIG(status)))};
  const std::string said = last_line(errors.text());
  return {"", said.empty() ? fmt::format("{} failed with exit code {}", program,
                                         WEXITSTATUS(status))
                           : said};
}

}  // namespace

std::optional<std::string> python_with_matplotlib() {
  constexpr const char* check =
      "import importlib.util, sys; sys.exit(not importlib.util.find_spec('matplotlib'))";
  for (const char* candidate : {"python3", "/usr/bin/python3"})
    if (run_to_end({candidate, "-c", check}).fault.empty()) return candidate;
  return std::nullopt;
}

Painter::Painter(std::string option) : option_{std::move(option)} {
  setenv("PYTHONPATH", study::find_python_package(option_).c_str(), 1);
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  const auto python = python_with_matplotlib();
  if (!python)
    throw missing(option_,
                  "python3 with matplotlib; install the package python3-matplotlib");
  python_ = *python;
}

std::string Painter::draw(std::vector<std::string> command,
                          const std::vector<std::string>& texts,
                          const std::string& path) const {
  const std::string format = std::filesystem::path{path}.extension().string().substr(1);
  command.insert(command.begin(), {python_, "-m", "tilerail"});
  command.insert(command.end(), {"-o", "-", "--format", format});
  std::vector<StagedFile> scratch;  // never committed: removed at the end
  for (const std::string& text : texts) {
    scratch.emplace_back(fmt::format("{}.{}.csv", path, scratch.size()), text);
    command.push_back(scratch.back().staged());
  }
  ProcessResult ended = run_to_end(command);
  if (!ended.fault.empty())
    throw fault_of(option_, "the figure could not be drawn: " + ended.fault);
  return std::move(ended.output);
}

void check_extension(const std::string& path, const std::string& option,
                     const std::vector<std::string>& known) {
  const std::string extension = std::filesystem::path{path}.extension().string();
  if (std::ranges::find(known, extension) == known.end())
    throw InputError{option, path, "has an unknown extension",
                     fmt::format("one of: {}", fmt::join(known, ", "))};
}

void kill_painter() noexcept {
  if (running != 0) kill(running, SIGKILL);
}

}  // namespace tilerail::cli
