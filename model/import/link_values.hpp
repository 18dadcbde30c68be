#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/base/units.hpp"

namespace tilerail {

/// The whole number that is all of a text, nothing of others and of those out of range.
std::optional<int> whole_number(std::string_view text, int least, int most);

/// What a PCIe link of "16.0 GT/s PCIe" (or "16 GT/s") and so many lanes has left for payload, one direction; nothing
/// of other texts, as "Unknown speed", and of what no link has: Linux says 63 or 255 lanes where it does not know.
std::optional<Rate> pcie_payload(std::string_view speed, std::string_view width);

/// One NVLink, one direction, nominal, of a GPU of this compute capability ("90").
Rate nvlink_of(std::string_view compute_capability);

}  // namespace tilerail
