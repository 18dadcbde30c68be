#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

namespace tilerail::cli {

constexpr int exit_ok = 0, exit_check_failed = 1, exit_bad_input = 2,
              exit_no_hardware = 3, exit_internal = 70;

/// A subcommand. If `app` was parsed, `run` executes it and returns the exit code.
struct Command {
  CLI::App* app;
  std::function<int()> run;
};

/// Adds a subcommand: `add` declares its options, which live as long as the returned
/// function, and `execute` runs it.
template <class Options, class Add>
Command make_command(CLI::App& parent, const std::string& name, const std::string& help,
                     const char* footer, int (*execute)(const Options&), const Add& add) {
  auto options = std::make_shared<Options>();
  CLI::App* app = parent.add_subcommand(name, help)->footer(footer);
  add(*app, *options);
  return {app, [=] { return execute(*options); }};
}

/// Each adds its subcommand to the root.
Command add_topo(CLI::App& root);
Command add_plan(CLI::App& root);
Command add_simulate(CLI::App& root);
Command add_predict(CLI::App& root);
Command add_run(CLI::App& root);
Command add_compare(CLI::App& root);
Command add_calibrate(CLI::App& root);
Command add_policies(CLI::App& root);
Command add_whatif(CLI::App& root);
Command add_sweep(CLI::App& root);
Command add_tune(CLI::App& root);

}  // namespace tilerail::cli
