#include <cstdio>

#include "cli/commands/command.hpp"
#include "model/base/text.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer = R"(Examples:
  tilerail policies
  tilerail simulate --gemm 16K --topology clx-ai --policy gemmex --set c-tiles=lazy --set chunks=4)";

/// One row a field, one column a preset.
std::string presets_text() {
  std::vector<std::vector<std::string>> lines{{"field"}};
  for (const PolicyField& field : fields_of(Policy{})) lines.push_back({field.key});
  for (const std::string& name : preset_names()) {
    lines.front().push_back(name);
    const auto fields = fields_of(preset(name));
    for (std::size_t i = 0; i < fields.size(); ++i) lines[i + 1].push_back(fields[i].value);
  }
  lines.front().push_back("--set accepts");
  const auto fields = fields_of(Policy{});
  for (std::size_t i = 0; i < fields.size(); ++i) lines[i + 1].push_back(fields[i].accepted);
  return aligned(lines, "l");
}

}  // namespace

Command add_policies(CLI::App& root) {
  CLI::App* app = root.add_subcommand("policies", "List the policies, their fields and the values that these accept");
  app->footer(footer);
  return {app, [] {
            std::fputs(presets_text().c_str(), stdout);
            return exit_ok;
          }};
}

}  // namespace tilerail::cli
