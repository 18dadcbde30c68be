#include "cli/output/gantt.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/output/process.hpp"
#include "cli/output/python.hpp"
#include "model/base/error.hpp"
#include "study/program_files.hpp"

namespace tilerail::cli {
namespace {

std::string last_line(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return std::string{text.substr(text.find_last_of('\n') + 1)};
}

}  // namespace

GanttPainter::GanttPainter() : package_{study::find_python_package().string()} {
  const auto python = python_with_matplotlib();
  if (!python) throw InputError{"--gantt: no python3 with matplotlib; install the package python3-matplotlib"};
  python_ = *python;
}

std::string GanttPainter::draw(const std::vector<std::string>& timelines, const std::string& format) const {
  std::vector<std::string> command{python_, "-m", "tilerail", "gantt"};
  command.insert(command.end(), timelines.begin(), timelines.end());
  command.insert(command.end(), {"-o", "-", "--format", format});
  ProcessResult result = run_process(command, {"PYTHONPATH=" + package_, "PYTHONDONTWRITEBYTECODE=1"});
  spdlog::debug("{} -m tilerail gantt: exit code {}", python_, result.exit_code);
  if (result.exit_code != 0) {
    throw InputError{fmt::format("--gantt: the figure could not be drawn: {}", last_line(result.errors))};
  }
  return std::move(result.output);
}

}  // namespace tilerail::cli
