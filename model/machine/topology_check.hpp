#pragma once

#include <string>
#include <vector>

#include "model/base/error.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// A description breaks an invariant. Names the table entry that does, so that the reader of the file can tell the
/// line.
struct TopologyDefect : InputError {
  enum class Table { machine, source, memory, node, link, group, route, kernels, copies, issue };
  TopologyDefect(Table where, std::size_t which, const std::string& message)
      : InputError{message}, table{where}, index{which} {}
  Table table;
  std::size_t index;
};

/// Limits that keep a hostile file from taking all time or memory, and route times inside 64-bit picoseconds.
struct TopologyLimits {
  static constexpr std::size_t memories = 256, nodes = 4096, links = 65536, groups = 1024, routes = 65536;
  static constexpr std::size_t points = 4096;      // of one curve
  static constexpr std::size_t name_length = 128;  // characters
  static constexpr Rate slowest{1e6}, fastest{1e15};
  static constexpr Seconds longest_latency{10};
};

/// "from->to" of every link, with "#2", "#3", ... for the second and further ones between the same nodes.
std::vector<std::string> link_names(const std::vector<Node>& nodes, const std::vector<Link>& links);

/// Throws TopologyDefect for the first invariant of a single table entry that does not hold.
void check_description(const Topology::Description& description);

/// Throws TopologyDefect when a GPU and some host cannot reach each other. `topology` is otherwise complete.
void check_reachable(const Topology& topology);

}  // namespace tilerail
