#pragma once

#include <algorithm>
#include <array>
#include <boost/dynamic_bitset.hpp>
#include <optional>
#include <span>
#include <vector>

#include "cost/resources.hpp"
#include "model/base/indices.hpp"

namespace tilerail {

/// Times at which links and groups finish the copies charged to them; copies are charged
/// in the order of their starts. A link serves copies one after another: the last ends as
/// it would if they shared the link. A group has its rate for the copies that are on it.
/// docs/model.md#estimate
class TrafficClocks {
 public:
  using Users = boost::dynamic_bitset<>;  // by index in `devices`

  /// Keeps references to `topology` and `resources`.
  TrafficClocks(const Topology& topology, const Resources& resources,
                std::span<const MemoryId> devices)
      : topology_{topology},
        resources_{resources},
        number_of_(topology.memories().size()),
        link_clock_(topology.links().size()),
        busy_(resources.count(), Usage{{}, Users{devices.size()}}),
        groups_(topology.groups().size()) {
    for (const auto d : indices(devices)) number_of_[devices[d].index()] = d;
    for (Group& group : groups_) group.users.resize(devices.size());
  }

  struct Copy {
    MemoryId src, dst;
    Bytes bytes;
    double efficiency;  // relative to the rate alone, due to its shape
  };
  /// Returns the copy's end; `start` must not be before earlier starts.
  Seconds run(const Copy& copy, Seconds start) {
    const Resources::PairCost& alone = resources_.pair_cost(copy.src, copy.dst);
    Seconds end = start + alone.latency + copy.bytes * alone.per_byte / copy.efficiency;
    for (const auto& [resource, per_byte] : alone.uses) {
      if (resources_.is_both_busy(resource)) continue;
      const Seconds time = copy.bytes * per_byte;
      busy_[resource].time += time;
      add(busy_[resource].users, copy);
      if (resource >= link_clock_.size()) continue;
      Seconds& clock = link_clock_[resource];
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

  /// Busy time of a resource if it were never idle, and the devices at which its copies
  /// started or ended.
  struct Usage {
    Seconds time;
    Users users;
  };
  std::vector<Usage> busy() const {
    std::vector<Usage> all = busy_;
    for (const auto g : indices(groups_)) {
      const auto& [forward, backward] = groups_[g].all;
      all.push_back({resources_.duplex(g).time(forward, backward), groups_[g].users});
    }
    return all;
  }

 private:
  /// Fraction of a copy that is on a group, and its end.
  struct Share {
    double part;
    Seconds end;
  };
  /// Copies on a group; a copy that is partly on it counts in proportion.
  struct Group {
    std::vector<Share> shares;  // copies that may still run
    Seconds clock;              // of its capacity
    Seconds since,
        until;  // first start and last end of the copies in `now`
    double starts = 0,
           flows = 0;  // number of starts among these copies; sum over them of the copies
                       // then on the group
    std::array<Bytes, 2> now, all;  // by side: bytes since `since`, and in total
    Users users;
  };

  Seconds load_group(const Topology::GroupUse& use, const Copy& copy, Seconds start) {
    const CapacityGroup& group = topology_.group(use.group);
    Group& mine = groups_[use.group.index()];
    const int parts = topology_.parts(copy.src, copy.dst);
    const auto part = [&](int count) { return copy.bytes * (double(count) / parts); };
    std::erase_if(mine.shares, [&](const Share& share) { return share.end <= start; });
    double flows = double(use.parts) / parts;
    for (const Share& share : mine.shares) flows += share.part;
    if (start > mine.until) {
      mine.since = start;
      mine.now = {};
      mine.starts = mine.flows = 0;
    }
    ++mine.starts;
    mine.flows += flows;
    for (auto* const sums : {&mine.now, &mine.all}) {
      (*sums)[0] += part(use.forward);
      (*sums)[1] += part(use.backward);
    }
    add(mine.users, copy);
    Seconds end = start;
    if (group.capacity) {
      const Rate of_many = group.capacity->saturated(), now = group.capacity->at(flows);
      end = mine.clock = std::max(mine.clock, start) + part(use.parts) / of_many;
      if (now < of_many)
        end = std::max(end, start + copy.bytes * flows /
                                        now);  // copies that leave room simultaneously
    }
    if (group.both_busy) {
      Resources::DuplexLimit duplex = resources_.duplex(use.group.index());
      duplex.together =
          group.both_busy->at(std::max({2.0, flows, mine.flows / mine.starts}));
      end = std::max(end, mine.since + duplex.time(mine.now[0], mine.now[1]));
    }
    return end;
  }
  void add(Users& users, const Copy& copy) const {
    for (const MemoryId end : {copy.src, copy.dst})
      if (const auto number = number_of_[end.index()]) users.set(*number);
  }

  const Topology& topology_;
  const Resources& resources_;
  std::vector<std::optional<size_t>> number_of_;  // by memory: index of the device
  std::vector<Seconds> link_clock_;
  std::vector<Usage> busy_;  // by resource
  std::vector<Group> groups_;
};

}  // namespace tilerail
