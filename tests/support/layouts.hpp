#pragma once

#include <string_view>

#include "model/machine/layout_text.hpp"

namespace tilerail::testing {

/// A memory by its name, or a layout.
inline Layout layout(const Topology& machine, std::string_view text) {
  if (const auto memory = machine.find_memory(text)) return *memory;
  return layout_from_text(text, machine).value();
}

}  // namespace tilerail::testing
