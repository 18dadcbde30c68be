#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sched/policy/question.hpp"

namespace tilerail {

/// The policies that a search may plan by. They differ from the question's in the fields that the table of fields marks
/// as varied and that the user has not overridden. docs/model.md#ways
class Strategies {
 public:
  struct Change {
    std::string key, value;
    std::string text() const { return key + "=" + value; }
  };

  /// Keeps a reference to the question.
  explicit Strategies(const Question& question);

  /// The starting strategies, in the order of their importance: the question's policy, the other layouts of GPUs, the
  /// policy with relays, the plainest values of all fields that may change, each pair of a shape of tiles and an order.
  std::vector<Policy> starts() const;
  /// The changes of one field of this policy.
  std::vector<Change> changes(const Policy& policy) const;
  /// The policy with that change.
  static Policy changed(Policy policy, const Change& change);
  /// How the policy differs from the question's: " sends=free order=fifo".
  std::string text(const Policy& policy) const;

 private:
  bool allows(std::string_view key, std::string_view value) const;

  const Question& question_;
  bool relays_, speeds_differ_, stages_;
  std::vector<std::string_view> free_;  // keys of fields that may change
};

}  // namespace tilerail
