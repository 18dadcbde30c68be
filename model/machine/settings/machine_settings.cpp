#include "model/machine/settings/machine_settings.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "model/base/text.hpp"
#include "model/base/units_text.hpp"
#include "model/machine/settings/description_editor.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// FNV-1a: the same on every machine, unlike std::hash.
std::uint32_t digest(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

}  // namespace

std::pair<std::string, std::string> split_setting(std::string_view setting) {
  const std::size_t equals = setting.find('=');
  const std::string_view key = trimmed(setting.substr(0, equals));
  if (equals == std::string_view::npos || key.empty())
    throw InputError{
        fmt::format("{}: is no setting; expected KEY=VALUE, where KEY is {}", in_quotes(setting), setting_keys)};
  return {std::string{key}, std::string{trimmed(setting.substr(equals + 1))}};
}

std::string name_with(const std::string& base, std::span<const std::string> settings) {
  std::string all;
  for (const std::string& setting : settings) {
    const auto [key, value] = split_setting(setting);
    all += fmt::format("+{}={}", key, value);
  }
  if (base.size() + all.size() <= TopologyLimits::name_length) return base + all;
  const std::string brief = fmt::format("+{} settings {:08x}", settings.size(), digest(base + all));
  std::string cut = base.substr(0, TopologyLimits::name_length - brief.size());
  while (first_bad_byte(cut)) cut.pop_back();  // a letter that was cut
  return cut + brief;
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
