#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>

#include "cli/commands/command.hpp"
#include "cli/output/output_set.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/policy/fields.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* policies_footer = R"(Examples:
  tilerail policies
  tilerail policies tilerail
  tilerail simulate --gemm 16K --topology clx-ai --policy gemmex --set c-tiles=lazy --set 'batch=chain(chunks=4)')";

/// One row per field, one column per preset.
std::string presets_text() {
  const std::vector<PolicyField> ours = fields_of(any_preset("tilerail"));
  Lines lines{{"field"}};
  for (const PolicyField& field : ours) lines.push_back({field.key});
  for (const std::string& name : any_preset_names()) {
    lines.front().push_back(name);
    const auto fields = fields_of(any_preset(name));
    for (const auto i : indices(fields)) lines[i + 1].push_back(fields[i].value);
  }
  lines.front().push_back("accepts");
  for (const auto i : indices(ours)) lines[i + 1].push_back(ours[i].accepted);
  return aligned(lines, "l");
}

/// The default and the accepted values of each parameter.
std::string parameters_text(const PolicyField& field) {
  std::string text;
  for (const PolicyValue& value : field.values)
    for (const PolicyField& parameter : value.parameters)
      text += fmt::format("  {}({}={})  ({})\n", value.name, parameter.key,
                          parameter.value, parameter.accepted);
  return text;
}

/// Every field of a preset: value, accepted values, effect and when it matters.
std::string preset_text(const std::string& name) {
  const std::vector<std::string> names = any_preset_names();
  if (std::ranges::find(names, name) == names.end())
    throw unknown_name("NAME", name, "a policy", names);
  std::string text;
  for (const PolicyField& field : fields_of(any_preset(name)))
    text += fmt::format("{} = {}  ({})\n  {}\n{}", field.key, field.value, field.accepted,
                        field.meaning, parameters_text(field));
  return text;
}

int run_policies(const std::string& name) {
  print(name.empty() ? presets_text() : preset_text(name));
  return exit_ok;
}

}  // namespace

Command add_policies(CLI::App& root) {
  return make_command<std::string>(
      root, "policies",
      "List the policies and their fields, or explain every field of one",
      policies_footer, run_policies,
      [](CLI::App& app, std::string& name) { app.add_option("NAME", name, "A preset"); });
}

}  // namespace tilerail::cli
