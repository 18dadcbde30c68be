#include "sched/choose/ways.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sched/policy/decisions.hpp"
#include "sched/policy/effects.hpp"
#include "sched/policy/fields.hpp"

namespace tilerail {
namespace {

/// A field that ways differ in, and the values worth trying.
struct Varied {
  std::string_view key;
  std::array<std::string_view, 4> values;
};
constexpr std::array varied{
    Varied{"sends", {"free", "in-order"}},
    Varied{"order", {"eta", "fifo", "steps"}},
    Varied{"c-tiles", {"eager", "lazy"}},
    Varied{"routing", {"link-eta", "eta", "link-map"}},
    Varied{"hop-rule", {"added", "bottleneck"}},
    Varied{"batch", {"on", "off"}},
    Varied{"write-backs", {"own-queues", "in-order"}},
    Varied{"compute-streams", {"auto", "2", "8"}},
    Varied{"grid", {"auto", "square"}},
    Varied{"k-split", {"1", "2", "4", "all"}},
    Varied{"distribution", {"blocks", "2d-cyclic", "proportional"}},
    Varied{"chunks", {"8", "1"}},
    Varied{"min-chunk-bytes", {"8388608", "0"}},
    Varied{"issue", {"per-device", "single"}},
    Varied{"shares", {"speed", "equal"}},
    Varied{"tile-rows", {"side", "all"}},
    Varied{"tile-depth", {"side", "growing", "columns", "all"}},
    Varied{"small-tiles", {"none", "k-first", "k-last", "c-last"}},
    Varied{"ragged", {"own", "merged"}},
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
      {{"sends", "free"}, {"k-split", "2"}},
      {{"sends", "free"}, {"k-split", "all"}},
      {{"order", "steps"}},
      {{"order", "steps"}, {"tile-rows", "all"}, {"tile-depth", "growing"}},
      {{"order", "fifo"}, {"tile-rows", "all"}, {"tile-depth", "columns"}},
      {{"order", "fifo"}, {"tile-rows", "all"}, {"tile-depth", "all"}},
      {{"order", "fifo"}, {"k-split", "2"}, {"tile-depth", "columns"}},
  };
  return table;
}

/// What ways of other presets are made of. Of gemmex as it is, and by an order that is decided tile by tile, with the
/// queues of the search's own ways; of paralia without the one thread that its library's locks amount to, and with
/// tiles dealt so that the rest is even, by both rules for hops. Each wins by much somewhere.
std::vector<Policy> others() {
  Policy by_tile = preset("gemmex"), paralia = preset("paralia");
  by_tile.order = Order::eta, by_tile.write_backs = WriteBacks::in_order;
  paralia.single_issuer = false, paralia.distribution = Distribution::cyclic_2d;
  Policy by_times = paralia;
  by_times.hop_rule = HopRule::added;
  return {std::move(by_times), std::move(paralia), std::move(by_tile), preset("gemmex"), preset("tilerail")};
}

/// To find the link map of more takes longer than all plans.
constexpr std::size_t most_with_link_map = 64;

/// What a user says, whatever the search has made of it since.
bool forbids_relays(const Policy& policy) {
  return std::ranges::any_of(policy.overridden,
                             [](const PolicyOverride& each) { return each.key == "relays" && each.value == "off"; });
}

}  // namespace

WayList::WayList(const Question& question)
    : question_{question},
      relays_{question.devices.size() <= most_with_link_map &&
              (question.problem.routine != Routine::gemm || !forbids_relays(question.policy))},
      speeds_differ_{!equally_fast(question)} {
  for (const Varied& field : varied)
    if (question.varies(field.key) && may_matter(question, field.key)) free_.push_back(field.key);
  add(question.policy);
  for (const Changes& changes : often_best()) {
    Policy way = question.policy;
    for (const auto& [key, value] : changes) way = changed(std::move(way), key, value);
    add(std::move(way));
  }
  of_presets_.push_back(add(like(with_relays(question.policy))));
  for (const Policy& other : others()) of_presets_.push_back(add(like(other)));
}

void WayList::add_beside(std::size_t way) {
  for (const Varied& field : varied)
    for (const std::string_view value : field.values)
      if (!value.empty()) add(changed(ways_[way], field.key, value));
}

std::string WayList::changes_text(const Policy& way) const {
  std::string text;
  for (const Varied& field : varied)
    if (const std::string value = value_of(way, field.key); value != value_of(question_.policy, field.key))
      text += fmt::format(" {}={}", field.key, value);
  return text;
}

std::size_t WayList::add(Policy way) {
  std::string wishes;
  for (const Varied& field : varied) {
    const bool of_chains = field.key == "chunks" || field.key == "min-chunk-bytes";
    if (way.batch || !of_chains) wishes += value_of(way, field.key) + " ";
  }
  const auto [known, is_new] = known_.try_emplace(std::move(wishes), ways_.size());
  if (is_new) ways_.push_back(std::move(way));
  return known->second;
}

Policy WayList::changed(Policy way, std::string_view key, std::string_view value) const {
  if (std::ranges::find(free_, key) == free_.end() || (!relays_ && value == "link-map") ||
      (!speeds_differ_ && (key == "shares" || value == "proportional")))
    return way;
  set_value(way, key, value);
  return way;
}

/// The question's policy with all that may be changed as another one has it.
Policy WayList::like(const Policy& other) const {
  Policy way = question_.policy;
  for (const std::string_view key : free_) way = changed(std::move(way), key, value_of(other, key));
  return way;
}

}  // namespace tilerail
