#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sched/policy/question.hpp"

namespace tilerail {

/// Policies that differ from that of a question in how tiles are dealt and moved. Fields that are overridden, and those
/// that cannot matter, stay as they are. None is listed twice. docs/model.md#ways
class WayList {
 public:
  /// The question's own policy first, then those that often win somewhere, and those of the other presets. The question
  /// has to outlive the list.
  explicit WayList(const Question& question);

  /// Adds those that differ from the numbered one in one field.
  void add_beside(std::size_t way);

  std::size_t size() const { return ways_.size(); }
  /// Those of the presets, as far as fields are open, and the one that relays.
  const std::vector<std::size_t>& of_presets() const { return of_presets_; }
  /// It stays where it is while others are added.
  const Policy& operator[](std::size_t way) const { return ways_[way]; }
  /// What is other in it than in the question's policy: " sends=free order=fifo".
  std::string changes_text(const Policy& way) const;

 private:
  /// Returns its number, be it new or not.
  std::size_t add(Policy way);
  Policy changed(Policy way, std::string_view key, std::string_view value) const;
  Policy like(const Policy& other) const;

  const Question& question_;
  std::vector<std::string_view> free_;  // keys of fields that may be changed
  bool relays_;                         // may be used
  bool speeds_differ_;                  // of GPUs
  std::deque<Policy> ways_;
  std::vector<std::size_t> of_presets_;
  std::map<std::string, std::size_t> known_;  // by what they wish
};

}  // namespace tilerail
