#include "model/machine/settings/machine_settings.hpp"

#include <fmt/format.h>

#include "model/base/digest.hpp"
#include "model/base/parse.hpp"
#include "model/base/text.hpp"
#include "model/base/units_text.hpp"
#include "model/machine/settings/description_editor.hpp"
#include "model/machine/settings/setting_keys.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {

std::pair<std::string, std::string> split_setting(std::string_view setting) {
  const std::size_t first = setting.find('=');
  std::size_t equals = first;
  while (equals != std::string_view::npos && !is_setting_key(trimmed(setting.substr(0, equals))))
    equals = setting.find('=', equals + 1);
  if (equals == std::string_view::npos) equals = setting.starts_with("link:") ? setting.rfind('=') : first;
  const std::string key = trimmed(setting.substr(0, equals));
  if (equals == std::string_view::npos || key.empty())
    throw InputError{
        fmt::format("{} is no setting; expected KEY=VALUE, where KEY is {}", in_quotes(setting), setting_keys)};
  return {key, trimmed(setting.substr(equals + 1))};
}

std::string name_with(const std::string& base, std::span<const std::string> settings) {
  std::string all;
  for (const std::string& setting : settings) {
    const auto [key, value] = split_setting(setting);
    all += fmt::format("+{}={}", key, value);
  }
  if (base.size() + all.size() <= TopologyLimits::name_length) return base + all;
  const std::string brief = fmt::format("+{} settings {}", settings.size(), digest_text(base + all));
  return std::string{cut(base, TopologyLimits::name_length - brief.size())} + brief;
}

std::vector<std::set<std::string>> figures_set(const Topology& machine, std::span<const std::string> settings) {
  std::vector<std::set<std::string>> figures;
  DescriptionEditor editor{machine.description()};
  for (const std::string& setting : settings) {
    editor.apply(setting);
    figures.push_back(editor.figures());
  }
  return figures;
}

Topology with_settings(const Topology& machine, std::span<const std::string> settings) {
  if (settings.empty()) return machine;
  DescriptionEditor editor{machine.description()};
  for (const std::string& setting : settings) editor.apply(setting);
  Topology::Description description = editor.result();
  const std::string name = description.name;
  try {
    return Topology{std::move(description)};
  } catch (const TopologyDefect& defect) {
    throw InputError{fmt::format("{}: {}", name, defect.what())};
  }
}

}  // namespace tilerail
