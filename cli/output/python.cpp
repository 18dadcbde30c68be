#include "cli/output/python.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <string_view>
#include <utility>

#include "cli/output/process.hpp"
#include "model/base/error.hpp"
#include "study/program_files.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* has_matplotlib =
    "import importlib.util, sys; sys.exit(not importlib.util.find_spec('matplotlib'))";

/// Without the name of the program, which stands before errors of the package.
std::string last_line(std::string_view text) {
  constexpr std::string_view program = "tilerail: ";
  while (text.ends_with('\n')) text.remove_suffix(1);
  text.remove_prefix(text.find_last_of('\n') + 1);
  if (text.starts_with(program)) text.remove_prefix(program.size());
  return std::string{text};
}

}  // namespace

std::optional<std::string> python_with_matplotlib() {
  for (const char* candidate : {"python3", "/usr/bin/python3"}) {
    if (run_process({candidate, "-c", has_matplotlib}, {}).exit_code == 0) return candidate;
  }
  return std::nullopt;
}

PythonPackage::PythonPackage(std::string option) : option_{std::move(option)} {
  package_ = study::find_python_package(option_).string();
  const auto python = python_with_matplotlib();
  if (!python)
    throw InputError{fmt::format("{}: no python3 with matplotlib; install the package python3-matplotlib", option_)};
  python_ = *python;
}

std::string PythonPackage::run(const std::vector<std::string>& arguments, const std::string& fault) const {
  std::vector<std::string> command{python_, "-m", "tilerail"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  ProcessResult result = run_process(command, {"PYTHONPATH=" + package_, "PYTHONDONTWRITEBYTECODE=1"});
  spdlog::debug("{} -m tilerail {}: exit code {}", python_, arguments.front(), result.exit_code);
  if (result.exit_code != 0)
    throw InputError{(fault.empty() ? option_ + ": the figure could not be drawn: " : fault) +
                     last_line(result.errors)};
  return std::move(result.output);
}

}  // namespace tilerail::cli
