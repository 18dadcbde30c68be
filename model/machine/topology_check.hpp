#pragma once

#include <string>
#include <string_view>

#include "model/base/error.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// A description breaks an invariant. Names the entry that does, so that the reader of
/// the file can tell the line.
struct TopologyDefect : InputError {
  TopologyDefect(std::string_view where, size_t which, const std::string& message)
      : InputError{message}, table{where}, index{which} {}
  std::string_view table;  // "memory", "node", "link", ...; "" for the machine
  size_t index;
};

/// Of machines, nodes, groups and kernels.
bool is_name(std::string_view text);
inline constexpr const char* expected_name =
    "1 to 128 characters of UTF-8, no control character among them";

/// Names every link "from->to", with "#2", "#3", ... for the second and further ones
/// between the same nodes.
void name_links(Topology::Description& description);

/// Throws TopologyDefect for the first invariant that does not hold; links have their
/// names: of single table entries, and, where these are all right, that a path leads from
/// some host to every GPU and from every GPU to some host.
void check_description(const Topology::Description& description);

}  // namespace tilerail
