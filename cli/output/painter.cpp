#include "cli/output/painter.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
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

struct ProcessResult {
  std::string output,
      fault;  // the last line of stderr, or how the program ended; "" after success
};

/// Runs a program from PATH to its end. If this process is killed, the program is, too.
ProcessResult run_to_end(const std::vector<std::string>& command) {
  const std::string& program = command.front();
  const Capture output, errors;
  std::vector<char*> words;
  for (const std::string& word : command)
    words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {  // async-signal-safe calls only: other threads may hold locks
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
    dup2(output.descriptor(), STDOUT_FILENO);
    dup2(errors.descriptor(), STDERR_FILENO);
    execvp(words.front(), words.data());
    _exit(127);  // as of shells
  }
  const auto not_started = [&](int error) {
    return ProcessResult{
        "", fmt::format("{} could not be started: {}", program, std::strerror(error))};
  };
  if (child < 0) return not_started(errno);
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return not_started(errno);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) return not_started(ENOENT);
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

}  // namespace tilerail::cli
