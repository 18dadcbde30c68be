#include "cost/traffic_clocks.hpp"

#include <algorithm>

#include "model/base/indices.hpp"

namespace tilerail {

TrafficClocks::TrafficClocks(const Topology& topology, const Resources& resources, size_t users)
    : topology_{topology},
      resources_{resources},
      link_clock_(topology.links().size()),
      busy_(resources.count(), Busy{Seconds{0}, Users{users}}),
      groups_(topology.groups().size()) {
  for (Group& group : groups_) group.users.resize(users);
}

void TrafficClocks::add(Users& users, const Copy& copy) {
  for (const size_t user : copy.users) users.set(user);
}

Seconds TrafficClocks::run(const Copy& copy, Seconds start) {
  const Resources::Way& way = resources_.way(copy.src, copy.dst);
  Seconds end = start + way.latency + copy.bytes * way.per_byte / copy.efficiency;
  for (const auto& use : way.uses) {
    if (resources_.is_both_busy(use.resource)) continue;
    const bool is_link = use.resource < link_clock_.size();
    const Seconds time = copy.bytes * use.per_byte;
    busy_[use.resource].time += time;
    add(busy_[use.resource].users, copy);
    if (!is_link) continue;
    Seconds& clock = link_clock_[use.resource];
    clock = std::max(clock, start) + time;
    end = std::max(end, clock);
  }
  const auto uses = topology_.groups_on(copy.src, copy.dst);
  const int parts = topology_.parts(copy.src, copy.dst);
  for (const auto& use : uses) end = std::max(end, load_group(use, copy, start));
  for (const auto& use : uses) {
    Group& group = groups_[use.group.index()];
    group.shares.push_back({double(use.parts) / parts, end});
    group.until = std::max(group.until, end);
  }
  return end;
}

Seconds TrafficClocks::load_group(const Topology::GroupUse& use, const Copy& copy, Seconds start) {
  const CapacityGroup& group = topology_.group(use.group);
  Group& mine = groups_[use.group.index()];
  const int parts = topology_.parts(copy.src, copy.dst);
  const auto part = [&](int count) { return copy.bytes * (double(count) / parts); };
  std::erase_if(mine.shares, [&](const Share& share) { return share.end <= start; });
  double flows = double(use.parts) / parts;
  for (const Share& share : mine.shares) flows += share.part;
  if (start > mine.until) mine.since = start, mine.now = {}, mine.starts = mine.flows = 0;
  ++mine.starts, mine.flows += flows;
  const std::array<Bytes, 2> bytes{part(use.forward), part(use.backward)};
  for (size_t side = 0; side < 2; ++side) mine.now[side] += bytes[side], mine.all[side] += bytes[side];
  add(mine.users, copy);
  Seconds end = start;
  if (group.capacity) {
    const Rate of_many = group.capacity->saturated(), now = group.capacity->at(flows);
    end = mine.clock = std::max(mine.clock, start) + part(use.parts) / of_many;
    if (now < of_many) end = std::max(end, start + copy.bytes * flows / now);  // copies that leave room together
  }
  if (group.both_busy) {
    Resources::TwoWays ways = resources_.two_ways(use.group.index());
    ways.together = group.both_busy->at(std::max({2.0, flows, mine.flows / mine.starts}));
    end = std::max(end, mine.since + ways.time(mine.now[0], mine.now[1]));
  }
  return end;
}

std::vector<TrafficClocks::Busy> TrafficClocks::busy() const {
  std::vector<Busy> all = busy_;
  for (const auto g : indices(groups_))
    all.push_back({resources_.two_ways(g).time(groups_[g].all[0], groups_[g].all[1]), groups_[g].users});
  return all;
}

}  // namespace tilerail
