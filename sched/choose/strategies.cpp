#include "sched/choose/strategies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sched/choose/search_space.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/policy/fields.hpp"

namespace tilerail {
namespace {

/// For more devices, the link map takes longer than all plans.
constexpr size_t most_with_link_map = 64;

/// All values of a field that is a choice.
std::vector<std::string> choices_of(std::string_view key) {
  const Policy any;
  std::vector<std::string> values = neighbors_of(any, key);
  values.push_back(value_of(any, key));
  return values;
}

/// Whether the user has set relays=off.
bool forbids_relays(const Policy& policy) {
  return std::ranges::any_of(policy.overridden,
                             [](const PolicyOverride& each) { return each.key == "relays" && each.value == "off"; });
}

}  // namespace

Strategies::Strategies(const Question& question)
    : question_{question},
      relays_{question.devices.size() <= most_with_link_map &&
              (question.problem.routine != Routine::gemm || !forbids_relays(question.policy))},
      speeds_differ_{!equally_fast(question)},
      stages_{staging_may_help(question)} {
  for (const std::string_view key : searched_keys())
    if (question.varies(key)) free_.push_back(key);
}

std::vector<Policy> Strategies::starts() const {
  std::vector<Policy> all;
  std::vector<std::string> known;
  const auto add = [&](const Policy& like) {
    Policy policy = question_.policy;
    for (const std::string_view key : free_)
      if (const std::string value = value_of(like, key); allows(key, value)) set_value(policy, key, value);
    std::string differences = text(policy);
    if (std::ranges::find(known, differences) != known.end()) return;
    known.push_back(std::move(differences));
    all.push_back(std::move(policy));
  };
  add(question_.policy);
  for (const std::string& value : neighbors_of(question_.policy, "grid"))  // other layouts
    add(changed(question_.policy, {"grid", value}));
  add(with_relays(question_.policy));
  add(Policy{});  // the plainest values
  Policy shaped = question_.policy;
  const std::string own_order = value_of(shaped, "order");
  std::vector<std::string> orders = neighbors_of(shaped, "order");
  orders.insert(orders.begin(), own_order);
  for (const std::string& order : orders)
    for (const std::string& rows : choices_of("tile-rows"))
      for (const std::string& depth : choices_of("tile-depth")) {
        set_value(shaped, "order", order), set_value(shaped, "tile-rows", rows), set_value(shaped, "tile-depth", depth);
        add(shaped);
      }
  return all;
}

std::vector<Strategies::Change> Strategies::changes(const Policy& policy) const {
  std::vector<Change> all;
  std::vector<std::vector<Change>> of_fields;
  for (const std::string_view key : free_) {
    of_fields.emplace_back();
    for (const std::string& value : neighbors_of(policy, key))
      if (allows(key, value)) of_fields.back().push_back({std::string{key}, value});
  }
  for (size_t i = 0, before = 1; before != all.size(); ++i) {  // the first values of all fields first
    before = all.size();
    for (const std::vector<Change>& changes : of_fields)
      if (i < changes.size()) all.push_back(changes[i]);
  }
  return all;
}

Policy Strategies::changed(Policy policy, const Change& change) {
  set_value(policy, change.key, change.value);
  return policy;
}

std::string Strategies::text(const Policy& policy) const {
  std::string differences;
  for (const std::string_view key : free_)
    if (const std::string value = value_of(policy, key); value != value_of(question_.policy, key))
      differences += fmt::format(" {}={}", key, value);
  return differences;
}

bool Strategies::allows(std::string_view key, std::string_view value) const {
  if (value.starts_with("link-map")) return relays_;
  if (key == "shares" || value == "proportional") return speeds_differ_;
  return stages_ || !value.starts_with("staged");
}

}  // namespace tilerail
