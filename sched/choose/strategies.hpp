#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sched/choose/surrogate.hpp"
#include "sched/policy/question.hpp"

namespace tilerail {

/// A policy of a search: for each searched field, the number of its value's feature in
/// the surrogate.
using Strategy = std::vector<size_t>;

/// The fields that the table of fields marks as varied and that the user did not
/// override, and their values. docs/model.md#strategies
class Strategies {
 public:
  /// Keeps references.
  Strategies(const Question& question, Surrogate& surrogate);

  /// The starting strategies, most important first: the question's policy, the other
  /// layouts of GPUs, the policy with relays, the defaults of all searched fields, each
  /// pair of tile shape and order.
  std::vector<Strategy> starts();
  /// The policy's values of the searched fields.
  Strategy strategy(const Policy& policy);
  /// The question's policy with the values of a strategy.
  Policy policy(const Strategy& strategy) const;

  /// The values that a search tries next for a field of a strategy; may be empty.
  const std::vector<size_t>& neighbors(const Strategy& strategy, size_t field);
  /// Sets a searched field; ignores other fields.
  void set(Strategy& strategy, std::string_view key, const std::string& value);
  /// The value of a field; for fields not searched, the question's value.
  std::string value(const Strategy& strategy, std::string_view key) const;
  /// Differences from the question's policy: " sends=free order=fifo".
  std::string text(const Strategy& strategy) const;

 private:
  size_t feature(size_t field, std::string value);
  bool allows(std::string_view key, std::string_view value) const;

  const Question& question_;
  Surrogate& surrogate_;
  bool relays_, speeds_differ_, stages_;
  std::vector<std::string_view> keys_;    // of searched fields
  std::map<size_t, std::string> values_;  // by feature
  std::map<std::pair<size_t, size_t>, std::vector<size_t>>
      neighbors_;  // by field and feature
  Strategy own_;   // the question's policy
};

}  // namespace tilerail
