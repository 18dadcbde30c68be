#include "cli/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/output/interruption.hpp"
#include "cli/output/standard_output.hpp"
#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/text.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer =
    R"(Exit codes: 0 done, 1 a check failed, 2 usage or bad input, 3 the hardware asked for is not there,
70 an internal error.

Examples:
  tilerail topo show karolina-hgx-a100
  tilerail simulate --gemm 16K --topology karolina-hgx-a100 --policy gemmex --gantt gemm.svg
  tilerail calibrate --backend host --devices 2 -o machine.toml
  tilerail run --backend host --gemm 2K --topology machine.toml --check --timeline measured.csv
  tilerail compare predicted.csv measured.csv
'tilerail COMMAND --help' explains one command.)";

/// Whatever an error quotes, it stays one line of text that can be read: paths are short enough, values may not be.
std::string one_line(std::string_view text) {
  constexpr size_t longest_word = 400, longest_line = 2000;
  std::string line;
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  for (const std::string_view part : split(text, '\n')) {
    if (!line.empty()) line += ";";
    for (const std::string_view word : split(part, ' '))
      line += (line.empty() ? "" : " ") + shortened(escaped(word), longest_word);
  }
  return shortened(line, longest_line);
}

int fail(int code, std::string_view message) {
  std::fputs(fmt::format("tilerail: error: {}\n", one_line(message)).c_str(), stderr);
  return code;
}

void log_to_stderr(bool verbose) {
  auto logger = spdlog::stderr_logger_mt("tilerail");
  logger->set_pattern("%n: %v");
  logger->set_level(verbose ? spdlog::level::debug : spdlog::level::info);
  spdlog::set_default_logger(logger);
}

/// The commands and actions that were asked for, from the program on.
std::vector<const CLI::App*> asked_of(const CLI::App& root) {
  std::vector<const CLI::App*> asked{&root};
  while (!asked.back()->get_subcommands().empty()) asked.push_back(asked.back()->get_subcommands().front());
  return asked;
}

/// What an error of the arguments says. The library's own words do not say what a missing one is, and name all that is
/// left over, the last one first.
std::string words_of(const CLI::ParseError& error, const CLI::App& root) {
  const CLI::App* innermost = asked_of(root).back();
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    for (const CLI::Option* option : innermost->get_options())
      if (option->get_required() && option->count() == 0)
        return fmt::format("{} is missing; expected it: {}", option->get_name(), option->get_description());
  const auto left = root.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr || left.empty()) return error.what();
  std::vector<std::string> names;
  for (const CLI::App* each : innermost->get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(each->get_name());
  if (names.empty() || left.front().starts_with('-')) return fmt::format("'{}' is not expected", left.front());
  return fmt::format("there is no {} '{}'; there are: {}", innermost == &root ? "command" : "action", left.front(),
                     fmt::join(names, ", "));
}

/// Runs the command. The subject of an InputError is spelled as the option of that name, if the command has one.
int run(const Command& command, const CLI::App& root) {
  try {
    return command.run();
  } catch (const InputError& error) {
    const std::string name = "--" + error.subject;
    if (!error.place.empty() || !asked_of(root).back()->get_option_no_throw(name)) throw;
    throw error.about(name);
  }
}

/// Parses and runs; every error leaves as an exception.
int parse_and_run(int argc, char** argv) {
  CLI::App root{"TileRail plans a multi-GPU matrix multiplication once, and simulates or executes that same plan.",
                "tilerail"};
  root.footer(footer);
  root.set_version_flag("--version", "tilerail " TILERAIL_VERSION);
  root.fallthrough();  // also for the commands: -v may stand anywhere
  bool verbose = false;
  root.add_flag("-v,--verbose", verbose, "Log what is done, on stderr");
  const std::vector<Command> commands{add_topo(root),       add_plan(root),    add_simulate(root),  add_predict(root),
                                      add_run(root),        add_compare(root), add_calibrate(root), add_policies(root),
                                      add_experiment(root), add_whatif(root),  add_sweep(root),     add_tune(root)};
  try {
    root.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {  // --help and --version
      std::ostringstream text;
      root.exit(error, text, text);
      print(text.str());
      return exit_ok;
    }
    std::string names;
    for (const CLI::App* app : asked_of(root)) names += app->get_name() + " ";
    return fail(exit_bad_input, fmt::format("{} (see '{}--help')", words_of(error, root), names));
  }
  log_to_stderr(verbose);
  for (const Command& command : commands) {
    if (command.app->parsed()) return run(command, root);
  }
  return fail(exit_bad_input, "a command is missing (see 'tilerail --help')");
}

}  // namespace

int run_program(int argc, char** argv) noexcept {
  try {
    clean_up_on_signals();
    return parse_and_run(argc, argv);
  } catch (const InputError& error) {
    return fail(exit_bad_input, error.what());
  } catch (const HardwareError& error) {
    return fail(exit_no_hardware, error.what());
  } catch (const ExecutionError& error) {
    return fail(exit_no_hardware, error.what());
  } catch (const std::bad_alloc&) {
    return fail(exit_bad_input, "the problem does not fit in the memory of this machine");
  } catch (const std::exception& error) {
    return fail(exit_internal, fmt::format("internal error: {}", error.what()));
  } catch (...) {
    return fail(exit_internal, "internal error of an unknown type");
  }
}

}  // namespace tilerail::cli
