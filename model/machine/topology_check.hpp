#pragma once

#include <string_view>

#include "model/base/error.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// A description violates an invariant. Identifies the entry, so that the reader of the
/// file can report its line.
struct TopologyDefect : InputError {
  TopologyDefect(std::string_view where, size_t which, const InputError& error)
      : InputError{error}, table{where}, index{which} {}
  std::string_view table;  // "memory", "vertex", "link", ...; "" for the machine
  size_t index;
};

/// Whether a text is a valid name of a machine, vertex, group or kernel.
bool is_name(std::string_view text);
inline constexpr const char* expected_name =
    "1 to 128 characters of UTF-8, no control character among them";

/// Names every link "from->to", with suffixes "#2", "#3", ... for parallel links.
void name_links(Topology::Description& description);

/// Throws TopologyDefect for the first violated invariant: first of single table entries,
/// then of connectivity (every GPU has a path from some host and a path to some host).
/// Links must have their names.
void check_description(const Topology::Description& description);

}  // namespace tilerail
