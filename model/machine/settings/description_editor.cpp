#include "model/machine/settings/description_editor.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "model/machine/settings/machine_settings.hpp"
#include "model/machine/settings/parts_left.hpp"
#include "model/machine/settings/setting_keys.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {

void DescriptionEditor::fail(const std::string& message) const { throw InputError{setting_ + ": " + message}; }

void DescriptionEditor::mark(std::string& source) {
  if (const auto changed = sources_.find(source); changed != sources_.end()) {
    if (changed->second.settings.back() != setting_) changed->second.settings.push_back(setting_);
    return;
  }
  const auto taken = [this](const std::string& key) {
    return std::any_of(d_.sources.begin(), d_.sources.end(), [&](const Source& s) { return s.key == key; });
  };
  std::string key = source.empty() ? "set" : source + "+set";
  for (auto& [known, changed] : sources_)
    if (changed.original == source) key = known;
  while (taken(key)) key += "+set";
  Changed& changed = sources_[key];
  changed.original = source;
  if (changed.settings.empty() || changed.settings.back() != setting_) changed.settings.push_back(setting_);
  source = key;
}

DescriptionEditor::Target DescriptionEditor::target(std::string_view key, std::string_view kind) const {
  const std::string_view field = figure_of(key);
  if (!field.empty())
    return {std::string{key.substr(kind.size(), key.size() - kind.size() - field.size() - 1)}, std::string{field}};
  fail(fmt::format("the key ends with none of its figures; expected NAME. and one of {}{}",
                   fmt::join(figures_of_kind(kind), ", "), is_part_key(key) ? ", or NAME=none, which removes it" : ""));
}

void DescriptionEditor::apply_to_machine(const std::string& key, const SettingValue& value) {
  if (key == "name") {
    d_.name = value.text();
    renamed_ = true;
    return;
  }
  const auto gpus = static_cast<std::size_t>(std::count_if(
      d_.memories.begin(), d_.memories.end(), [](const Memory& memory) { return memory.kind == NodeKind::gpu; }));
  if (gpus == 0) fail("the machine has no GPUs");
  int count = static_cast<int>(gpus);  // that a factor is of
  const std::string range = fmt::format("1 to {}, the GPUs of the machine", gpus);
  value.apply(count, {1, static_cast<int>(gpus), range.c_str()});
  d_ = with_first_gpus(d_, static_cast<std::size_t>(count));
}

void DescriptionEditor::apply(const std::string& setting) {
  setting_ = setting;
  const auto [key, text] = split_setting(setting);
  const SettingValue value{text, setting};
  figures_.clear();
  if (key == "name" || key == "gpus") {
    apply_to_machine(key, value);
    figures_.insert(key);
  } else if (is_part_key(key) && (value.is_none() || value.text() == as_it_is))
    apply_to_part(key, value);
  else if (key.starts_with("link:"))
    apply_to_links(target(key, "link:"), value);
  else if (key.starts_with("group:"))
    apply_to_groups(target(key, "group:"), value);
  else if (key.starts_with("memory:"))
    apply_to_memories(target(key, "memory:"), value);
  else if (key.starts_with("kernels:"))
    apply_to_kernels(target(key, "kernels:"), value);
  else if (key.starts_with("issue."))
    apply_to_issue(std::string_view{key}.substr(std::string_view{"issue."}.size()), value);
  else
    fail(fmt::format("the key {} is unknown; expected {}", in_quotes(key), setting_keys));
  settings_.push_back(setting);
}

Topology::Description DescriptionEditor::result() {
  constexpr const char* kinds[] = {"measured", "fitted", "published", "assumed"};
  for (const auto& [key, changed] : sources_) {
    std::string text;
    for (const Source& source : d_.sources)
      if (source.key == changed.original)
        text = fmt::format("{}: {}; then ", kinds[static_cast<int>(source.kind)], source.text);
    d_.sources.push_back(
        {key, Source::Kind::assumed, fmt::format("{}set: {}", text, fmt::join(changed.settings, "; "))});
  }
  if (!renamed_) d_.name = name_with(d_.name, settings_);
  if (!is_name(d_.name)) throw InputError{fmt::format("name={}: is not a name; expected {}", d_.name, expected_name)};
  return std::move(d_);
}

}  // namespace tilerail
