#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/output/interruption.hpp"
#include "cli/output/output_set.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer =
    R"(Exit codes: 0 done, 1 a check failed, 2 usage or bad input, 3 the requested hardware is missing,
70 an internal error.

Examples:
  tilerail topo show karolina-hgx-a100
  tilerail simulate --gemm 16K --topology karolina-hgx-a100 --policy gemmex --gantt gemm.svg
  tilerail calibrate --backend host --devices 2 -o machine.toml
  tilerail run --backend host --gemm 2K --topology machine.toml --check --timeline measured.csv
  tilerail compare predicted.csv measured.csv
'tilerail COMMAND --help' explains one command.)";

/// A printable line of text, whatever an error quotes.
std::string one_line(std::string_view text) {
  constexpr size_t longest = 2000;
  std::string line{text};
  while (line.ends_with('\n')) line.pop_back();
  std::ranges::replace(line, '\n', ';');
  return shortened(escaped(line), longest);
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

/// The commands and actions on the command line, from the program on.
std::vector<const CLI::App*> asked_of(const CLI::App& root) {
  std::vector<const CLI::App*> asked{&root};
  while (!asked.back()->get_subcommands().empty())
    asked.push_back(asked.back()->get_subcommands().front());
  return asked;
}

/// The message of an argument error. CLI11 itself lists all extra arguments, the last one
/// first.
std::string words_of(const CLI::ParseError& error, const CLI::App& root) {
  const auto left = root.remaining(true);
  const bool is_extra =
      dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !left.empty();
  return is_extra ? fmt::format("'{}' is not expected", left.front()) : error.what();
}

/// Runs the command. Spells the subject of an InputError, "NAME", "NAME: ..." or
/// "NAME 'VALUE': ...", as the command's option of that name, if it exists.
int run(const Command& command, const CLI::App& root) {
  try {
    return command.run();
  } catch (const InputError& error) {
    const std::string subject = "--" + error.subject;
    const std::string name = subject.substr(0, subject.find_first_of(": "));
    if (!error.place.empty() || !asked_of(root).back()->get_option_no_throw(name)) throw;
    throw error.about(subject);
  }
}

/// Parses and runs; all errors are thrown.
int parse_and_run(int argc, char** argv) {
  CLI::App root{
      "TileRail plans a multi-GPU matrix multiplication once, and simulates or executes "
      "that same plan.",
      "tilerail"};
  root.footer(footer);
  root.set_version_flag("--version", "tilerail " TILERAIL_VERSION);
  root.fallthrough();  // also for the commands: accepts -v anywhere
  bool verbose = false;
  root.add_flag("-v,--verbose", verbose, "Log actions on stderr");
  const std::vector<Command> commands{
      add_topo(root),   add_plan(root),    add_simulate(root),  add_predict(root),
      add_run(root),    add_compare(root), add_calibrate(root), add_policies(root),
      add_whatif(root), add_sweep(root),   add_tune(root)};
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
    return fail(exit_bad_input,
                fmt::format("{} (see '{}--help')", words_of(error, root), names));
  }
  log_to_stderr(verbose);
  for (const Command& command : commands) {
    if (command.app->parsed()) return run(command, root);
  }
  return fail(exit_bad_input, "a command is missing (see 'tilerail --help')");
}

/// 0: success; 1: a check failed; 2: usage or invalid input; 3: missing hardware; 70:
/// internal error.
int run_program(int argc, char** argv) {
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
  }
}

}  // namespace
}  // namespace tilerail::cli

int main(int argc, char** argv) { return tilerail::cli::run_program(argc, argv); }
