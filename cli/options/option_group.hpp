#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tilerail::cli {

/// Options under one heading of a command's help.
struct OptionGroup {
  CLI::App& app;
  std::string heading = "Options";

  /// `value` names what the option takes: "--gemm M,N,K".
  CLI::Option* add(const std::string& name, const std::string& value, std::string& target, const std::string& help) {
    return app.add_option(name, target, help)->type_name(value)->group(heading);
  }

  /// Tells whether it was given.
  CLI::Option* add(const std::string& name, const std::string& value, std::optional<std::string>& target,
                   const std::string& help) {
    return app.add_option(name, target, help)->type_name(value)->group(heading);
  }

  /// May be given several times.
  CLI::Option* add(const std::string& name, const std::string& value, std::vector<std::string>& target,
                   const std::string& help) {
    return app.add_option(name, target, help + "; repeatable")
        ->type_name(value)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
        ->group(heading);
  }
};

}  // namespace tilerail::cli
