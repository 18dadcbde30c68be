#include "sched/choose/ways.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "sched/policy/decisions.hpp"
#include "sched/policy/effects.hpp"
#include "sched/policy/fields.hpp"

namespace tilerail {
namespace {

/// A field that ways differ in, and the values worth trying.
struct Varied {
  std::string_view key;
  std::array<std::string_view, 3> values;
};
constexpr std::array varied{
    Varied{"sends", {"free", "in-order"}},
    Varied{"order", {"eta", "fifo"}},
    Varied{"c-tiles", {"eager", "lazy"}},
    Varied{"routing", {"link-eta", "eta", "link-map"}},
    Varied{"batch", {"on", "off"}},
    Varied{"write-backs", {"own-queues", "in-order"}},
    Varied{"compute-streams", {"auto", "8"}},
    Varied{"grid", {"auto", "square"}},
    Varied{"distribution", {"blocks", "2d-cyclic"}},
    Varied{"chunks", {"8", "1"}},
    Varied{"shares", {"speed", "equal"}},
};

struct Change {
  std::string_view key, value;
};
using Changes = std::vector<Change>;

/// Found by simulating every combination of a few on the machines that are shipped: each wins somewhere by much.
const std::vector<Changes>& often_best() {
  static const std::vector<Changes> table{
      {{"sends", "free"}},
      {{"sends", "free"}, {"write-backs", "own-queues"}},
      {{"order", "fifo"}},
      {{"sends", "free"}, {"routing", "link-map"}},
      {{"sends", "free"}, {"c-tiles", "lazy"}},
      {{"sends", "free"}, {"order", "fifo"}},
      {{"sends", "free"}, {"compute-streams", "8"}},
      {{"batch", "off"}},
      {{"sends", "free"}, {"grid", "square"}},
      {{"routing", "link-map"},
       {"distribution", "2d-cyclic"},
       {"batch", "off"},
       {"sends", "free"},
       {"order", "fifo"},
       {"write-backs", "own-queues"},
       {"compute-streams", "8"}},
  };
  return table;
}

/// Makes ways of one question, each once.
class WayMaker {
 public:
  explicit WayMaker(const Question& question) : question_{question} {
    for (const Varied& field : varied)
      if (question.varies(field.key) && may_matter(question, field.key)) free_.push_back(field.key);
  }

  Policy with(Policy way, std::string_view key, std::string_view value) const {
    if (std::ranges::find(free_, key) == free_.end() || (no_relays_ && value == "link-map")) return way;
    set_value(way, key, value);
    return way;
  }

  Policy with(Policy way, const Changes& changes) const {
    for (const auto& [key, value] : changes) way = with(way, key, value);
    return way;
  }

  /// As another policy has them.
  Policy like(const Policy& other) const {
    Policy way = question_.policy;
    for (const std::string_view key : free_) way = with(std::move(way), key, value_of(other, key));
    return way;
  }

 private:
  const Question& question_;
  std::vector<std::string_view> free_;  // keys of fields that may be changed
  const bool no_relays_ = overrides(question_.policy, "relays") && value_of(question_.policy, "relays") == "off";
};

void add_new(std::vector<Policy>& ways, Policy way) {
  const std::string key = way_key(way);
  if (std::ranges::none_of(ways, [&](const Policy& known) { return way_key(known) == key; }))
    ways.push_back(std::move(way));
}

}  // namespace

std::string way_key(const Policy& way) {
  std::string key;
  for (const Varied& field : varied) key += value_of(way, field.key) + " ";
  return key;
}

std::vector<Policy> first_ways(const Question& question) {
  const WayMaker make{question};
  std::vector<Policy> ways{question.policy};
  for (const Changes& changes : often_best()) add_new(ways, make.with(question.policy, changes));
  for (const std::string& name : preset_names())
    if (name != "baseline") add_new(ways, make.like(preset(name)));  // which shares nothing and overlaps nothing
  return ways;
}

std::vector<Policy> ways_beside(const Question& question, const Policy& way) {
  const WayMaker make{question};
  std::vector<Policy> ways{way};
  for (const Varied& field : varied)
    for (const std::string_view value : field.values)
      if (!value.empty()) add_new(ways, make.with(way, field.key, value));
  ways.erase(ways.begin());
  return ways;
}

std::string changes_text(const Question& question, const Policy& way) {
  std::string text;
  for (const Varied& field : varied)
    if (const std::string value = value_of(way, field.key); value != value_of(question.policy, field.key))
      text += fmt::format(" {}={}", field.key, value);
  return text;
}

}  // namespace tilerail
