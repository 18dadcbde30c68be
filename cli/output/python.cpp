#include "cli/output/python.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <cstring>
#include <string_view>
#include <utility>

#include "cli/output/process.hpp"
#include "model/base/error.hpp"
#include "study/program_files.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* has_matplotlib =
    "import importlib.util, sys; sys.exit(0 if importlib.util.find_spec('matplotlib') else 44)";
constexpr int without_matplotlib = 44;  // python3 itself exits with 1 or 2 if it fails

/// Without the name of the program, which stands before errors of the package.
std::string last_line(std::string_view text) {
  constexpr std::string_view program = "tilerail: ";
  while (text.ends_with('\n')) text.remove_suffix(1);
  text.remove_prefix(text.find_last_of('\n') + 1);
  if (text.starts_with(program)) text.remove_prefix(program.size());
  return std::string{text};
}

/// Why a program gave no result: it did not start, or how it ended. The last line that it wrote tells more if it
/// exited.
std::string why_not(const std::string& program, const ProcessResult& result) {
  switch (result.end) {
    case ProcessResult::End::not_found:
    case ProcessResult::End::not_started:
      return fmt::format("{} could not be started: {}", program, std::strerror(result.code));
    case ProcessResult::End::killed:
      return fmt::format("{} was ended by signal {} ({})", program, result.code, strsignal(result.code));
    case ProcessResult::End::exited:
      break;
  }
  return fmt::format("{} failed with exit code {}: {}", program, result.code, last_line(result.errors));
}

/// A python3 with matplotlib, or else why the last one that there is cannot tell whether it has it.
struct Found {
  std::optional<std::string> python;
  std::string fault;
};

Found find_python() {
  Found found;
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    const ProcessResult result = run_process({candidate, "-c", has_matplotlib}, {});
    if (result.succeeded()) return {candidate, ""};
    const bool lacks_it = result.end == ProcessResult::End::exited && result.code == without_matplotlib;
    if (!lacks_it && result.end != ProcessResult::End::not_found) found.fault = why_not(candidate, result);
  }
  return found;
}

}  // namespace

std::optional<std::string> python_with_matplotlib() { return find_python().python; }

PythonPackage::PythonPackage(std::string option) : option_{std::move(option)} {
  package_ = study::find_python_package(option_).string();
  const Found found = find_python();
  if (!found.python && !found.fault.empty()) throw fault_of(option_, found.fault);
  if (!found.python) throw missing(option_, "python3 with matplotlib; install the package python3-matplotlib");
  python_ = *found.python;
}

std::string PythonPackage::run(const std::vector<std::string>& arguments, const std::string& fault) const {
  std::vector<std::string> command{python_, "-m", "tilerail"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessResult result = run_process(command, {"PYTHONPATH=" + package_, "PYTHONDONTWRITEBYTECODE=1"});
  spdlog::debug("{} -m tilerail {}: exit code {}", python_, arguments.front(), result.code);
  if (result.succeeded()) return std::move(result.output);
  const std::string said = result.end == ProcessResult::End::exited ? last_line(result.errors) : "";
  throw InputError{(fault.empty() ? option_ + ": the figure could not be drawn: " : fault) +
                   (said.empty() ? why_not(python_, result) : said)};
}

}  // namespace tilerail::cli
