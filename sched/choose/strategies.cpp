#include "sched/choose/strategies.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sched/choose/search_space.hpp"
#include "sched/policy/decisions.hpp"
#include "sched/policy/fields.hpp"

namespace tilerail {
namespace {

/// With more devices, the link map takes longer than all plans.
constexpr size_t most_with_link_map = 64;

/// All values of a choice field, the policy's own first.
std::vector<std::string> choices_of(const Policy& policy, std::string_view key) {
  std::vector<std::string> values = neighbors_of(policy, key);
  values.insert(values.begin(), value_of(policy, key));
  return values;
}

}  // namespace

Strategies::Strategies(const Question& question, Surrogate& surrogate)
    : question_{question},
      surrogate_{surrogate},
      relays_{question.devices.size() <= most_with_link_map},
      speeds_differ_{!equally_fast(question)},
      stages_{staging_may_help(question)} {
  for (const std::string_view key : searched_keys())
    if (question.varies(key)) keys_.push_back(key);
  own_ = strategy(question.policy);
}

size_t Strategies::feature(size_t field, std::string value) {
  const size_t number = surrogate_.feature(fmt::format("{}={}", keys_[field], value));
  values_.try_emplace(number, std::move(value));
  return number;
}

Strategy Strategies::strategy(const Policy& policy) {
  Strategy strategy;
  for (size_t field = 0; field < keys_.size(); ++field)
    strategy.push_back(feature(field, value_of(policy, keys_[field])));
  return strategy;
}

Policy Strategies::policy(const Strategy& strategy) const {
  Policy policy = question_.policy;
  for (size_t field = 0; field < keys_.size(); ++field)
    if (strategy[field] != own_[field])
      set_value(policy, keys_[field], values_.at(strategy[field]));
  return policy;
}

std::vector<Strategy> Strategies::starts() {
  std::vector<Strategy> all;
  const auto add = [&](const Policy& like) {
    Strategy next = strategy(like);
    for (size_t field = 0; field < keys_.size(); ++field)
      if (!allows(keys_[field], values_[next[field]])) next[field] = own_[field];
    if (std::ranges::find(all, next) == all.end()) all.push_back(std::move(next));
  };
  const Policy& own = question_.policy;
  add(own);
  Policy changed = own;
  for (const std::string& value : neighbors_of(own, "grid")) {  // other layouts
    set_value(changed, "grid", value);
    add(changed);
  }
  add(with_relays(own));
  add(Policy{});  // defaults
  changed = own;
  for (const std::string& order : choices_of(own, "order"))
    for (const std::string& rows : choices_of({}, "tile-rows"))
      for (const std::string& depth : choices_of({}, "tile-depth")) {
        set_value(changed, "order", order);
        set_value(changed, "tile-rows", rows);
        set_value(changed, "tile-depth", depth);
        add(changed);
      }
  return all;
}

const std::vector<size_t>& Strategies::neighbors(const Strategy& strategy, size_t field) {
  const auto [entry, is_new] = neighbors_.try_emplace({field, strategy[field]});
  if (!is_new) return entry->second;
  for (std::string& value : neighbors_of(policy(strategy), keys_[field]))
    if (allows(keys_[field], value))
      entry->second.push_back(feature(field, std::move(value)));
  return entry->second;
}

void Strategies::set(Strategy& strategy, std::string_view key, const std::string& value) {
  const auto field = std::ranges::find(keys_, key) - keys_.begin();
  if (field < std::ssize(keys_)) strategy[size_t(field)] = feature(size_t(field), value);
}

std::string Strategies::value(const Strategy& strategy, std::string_view key) const {
  const auto field = std::ranges::find(keys_, key) - keys_.begin();
  return field < std::ssize(keys_) ? values_.at(strategy[size_t(field)])
                                   : value_of(question_.policy, key);
}

std::string Strategies::text(const Strategy& strategy) const {
  std::string differences;
  for (size_t field = 0; field < keys_.size(); ++field)
    if (strategy[field] != own_[field])
      differences += fmt::format(" {}={}", keys_[field], values_.at(strategy[field]));
  return differences;
}

bool Strategies::allows(std::string_view key, std::string_view value) const {
  if (value.starts_with("link-map")) return relays_;
  if (key == "shares" || value == "proportional") return speeds_differ_;
  return stages_ || !value.starts_with("staged");
}

}  // namespace tilerail
