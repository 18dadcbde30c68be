#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/options/option_group.hpp"
#include "cli/output/output_set.hpp"
#include "cli/output/painter.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "study/program_files.hpp"

namespace tilerail::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* experiment_footer = R"(Examples:
  tilerail experiment list
  tilerail experiment run karolina_gemmex -o out/karolina
  tilerail experiment run thesis_fig_4_8 -- --sizes 8K,16K
  tilerail experiment run all --quick)";

/// The first line of a script's docstring; "" without a docstring.
std::string title_of(const fs::path& script) {
  std::ifstream file{script};
  const std::string quotes = "\"\"\"";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(quotes)) continue;
    line.erase(0, quotes.size());
    return line.substr(0, line.find(quotes));
  }
  return {};
}

int list() {
  Lines lines;
  for (const fs::path& script : study::experiment_scripts())
    lines.push_back({script.stem().string(), title_of(script)});
  print(aligned(lines, "ll"));
  return exit_ok;
}

fs::path find_script(const std::string& name) {
  std::vector<std::string> names;
  for (const fs::path& script : study::experiment_scripts()) {
    names.push_back(script.stem().string());
    if (names.back() == name) return script;
  }
  throw unknown_name("experiment run", name, "an experiment", names);
}

struct ScriptOptions {
  std::string name, folder;
  bool quick = false;
  std::vector<std::string> extra;
};

/// Replaces this process with the script, so the script determines output, signals and
/// exit code.
int run(const ScriptOptions& options) {
  const std::string script = find_script(options.name).string();
  const std::string python = python_with_matplotlib().value_or("python3");
  // A quick run never replaces the results of a full run.
  const std::string folder =
      !options.folder.empty() ? options.folder
                              : "out/" + options.name + (options.quick ? "-quick" : "");
  std::vector<std::string> command{
      python, script, "--tilerail", study::executable().string(), "-o", folder};
  if (options.quick) command.emplace_back("--quick");
  command.insert(command.end(), options.extra.begin(), options.extra.end());
  std::vector<char*> pointers;
  for (std::string& text : command) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
  // Blocks Ctrl-C until the experiment can handle it: during its startup, Python would
  // print a traceback.
  sigset_t interrupt;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &interrupt, nullptr);
  execvp(pointers.front(), pointers.data());
  throw InputError{"experiment run", python,
                   fmt::format("cannot be started: {}", std::strerror(errno))};
}

}  // namespace

Command add_experiment(CLI::App& root) {
  CLI::App* app = root.add_subcommand(
      "experiment", "Repeat an experiment of a paper and compare the results");
  app->footer(experiment_footer);
  CLI::App* list_app = app->add_subcommand("list", "List the experiments");
  CLI::App* run_app = app->add_subcommand(
      "run", "Run one: tables to stdout, CSV and figure into a folder");
  auto options = std::make_shared<ScriptOptions>();
  run_app->add_option("NAME", options->name, "An experiment ('tilerail experiment list')")
      ->required();
  const OptionGroup group{*run_app};
  group.add("-o,--output", "DIR", options->folder,
            "Folder of the results [out/NAME, with --quick out/NAME-quick]");
  group.flag("--quick", options->quick,
             "A few of the problems (not in every experiment)");
  run_app->add_option("ARGUMENTS", options->extra,
                      "After '--': arguments of the experiment; try -- --help");
  return {app, [options, list_app, run_app] {
            if (list_app->parsed()) return list();
            if (run_app->parsed()) return run(*options);
            throw missing("experiment", "list or run (see 'tilerail experiment --help')");
          }};
}

}  // namespace tilerail::cli
