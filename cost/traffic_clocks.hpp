#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <boost/dynamic_bitset.hpp>
#include <vector>

#include "cost/resources.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// When links and groups are done with what copies have loaded them with, told in the order in which copies start. A
/// link serves copies one after another: the last ends when it would if they shared it. A group is as fast as for the
/// copies that are on it. docs/model.md#estimate
class TrafficClocks {
 public:
  using Users = boost::dynamic_bitset<>;

  /// Keeps references.
  TrafficClocks(const Topology& topology, const Resources& resources, size_t users);

  struct Copy {
    MemoryId src, dst;
    Bytes bytes;
    double efficiency;                                // of the rate that it has alone, for its shape
    boost::container::small_vector<size_t, 2> users;  // numbers of those whose copy it is
  };
  /// When it ends; it starts no earlier than those before it.
  Seconds run(const Copy& copy, Seconds start);

  /// What a resource was busy with, were it never idle, and whose copies these were.
  struct Busy {
    Seconds time{0};
    Users users;
  };
  std::vector<Busy> busy() const;

 private:
  /// Part of a copy that is on a group, and when it ends.
  struct Share {
    double part;
    Seconds end;
  };
  /// Copies on a group; one that is there in part counts as much.
  struct Group {
    std::vector<Share> shares;     // those that may not be done
    Seconds clock{0};              // of its capacity
    Seconds since{0}, until{0};    // when the copies in `now` began to use it, and when they are done
    double starts = 0, flows = 0;  // how many of them began, and, added up, how many there were then
    std::array<Bytes, 2> now{};    // by side, since then
    std::array<Bytes, 2> all{};
    Users users;
  };

  Seconds load_group(const Topology::GroupUse& use, const Copy& copy, Seconds start);
  static void add(Users& users, const Copy& copy);

  const Topology& topology_;
  const Resources& resources_;
  std::vector<Seconds> link_clock_;
  std::vector<Busy> busy_;  // by resource
  std::vector<Group> groups_;
};

}  // namespace tilerail
