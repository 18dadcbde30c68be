#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "model/base/error.hpp"

namespace tilerail::cli {

/// Options under one heading of a command's help.
struct OptionGroup {
  CLI::App& app;
  std::string heading = "Options";

  /// `value` names the argument: "--gemm M,N,K". A FILE or DIR must have a nonempty name.
  /// Use an optional target to distinguish absent options.
  template <class Text>
  CLI::Option* add(const std::string& name, const std::string& value, Text& target,
                   const std::string& help) const {
    return described(app.add_option(name, target, help), value);
  }

  /// Repeatable.
  CLI::Option* add(const std::string& name, const std::string& value,
                   std::vector<std::string>& target, const std::string& help) const {
    return described(app.add_option(name, target, help + "; repeatable"), value)
        ->expected(1)
        ->allow_extra_args(false)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  }

  CLI::Option* flag(const std::string& name, bool& target,
                    const std::string& help) const {
    return app.add_flag(name, target, help)->group(heading);
  }

 private:
  CLI::Option* described(CLI::Option* option, const std::string& value) const {
    if (value.starts_with("FILE") || value == "DIR")
      option->check([value](const std::string& text) {
        return text.empty() ? InputError{"", "", "is not a name", "a " + value}.what()
                            : std::string{};
      });
    return option->type_name(value)->group(heading);
  }
};

}  // namespace tilerail::cli
