#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/settings/setting_value.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// Changes figures of a description, one setting after another, and gives all that it changes sources that tell.
class DescriptionEditor {
 public:
  explicit DescriptionEditor(Topology::Description description) : d_{std::move(description)} {}

  /// "KEY=VALUE". Throws InputError "KEY=VALUE: ...".
  void apply(const std::string& setting);

  /// What the last setting set: "link host->gpu0.bandwidth".
  const std::set<std::string>& figures() const { return figures_; }

  /// With the new name and the new sources. Throws InputError when the name is none.
  Topology::Description result();

 private:
  /// An item and its key: "bandwidth" of "host->gpu*" of "link:host->gpu*.bandwidth".
  struct Target {
    std::string name, field;
  };
  Target target(std::string_view key, std::string_view kind) const;

  void apply_to_machine(const std::string& key, const SettingValue& value);
  /// Removes what the name fits, or leaves it as it is.
  void apply_to_part(std::string_view key, const SettingValue& value);
  void apply_to_links(const Target& target, const SettingValue& value);
  void apply_to_groups(const Target& target, const SettingValue& value);
  void apply_to_memories(const Target& target, const SettingValue& value);
  void apply_to_kernels(const Target& target, const SettingValue& value);
  void apply_to_issue(std::string_view field, const SettingValue& value);
  void apply_to_graph(std::string_view field, const SettingValue& value);
  bool apply_rate(KernelTimes& kernels, std::string_view dtype, const SettingValue& value);

  /// Calls `change` for every item whose name fits, and marks those for which it says that it changed something.
  template <class Items, class Change>
  void each(Items& items, const char* kind, const Target& target, const Change& change);

  /// By item, whether the name fits it. Throws InputError where it fits none.
  template <class Items>
  std::vector<bool> named(const Items& items, const char* kind, const std::string& name) const;

  [[noreturn]] void fail(const std::string& message) const;
  /// From now on, `source` is one that names the setting, too.
  void mark(std::string& source);

  struct Changed {
    std::string original;
    std::vector<std::string> settings;
  };
  Topology::Description d_;
  std::string setting_;            // the one that is applied
  std::set<std::string> figures_;  // that it sets
  std::vector<std::string> settings_;
  bool renamed_ = false;
  std::map<std::string, Changed> sources_;  // new ones by their keys
};

}  // namespace tilerail
