#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/base/units.hpp"

namespace tilerail {

/// The whole number that is all of a text, nothing of others and of those out of range.
std::optional<int> whole_number(std::string_view text, int least, int most);

/// What Linux and NCCL write of the speed and the width of a PCIe link, also where they do not know: no text,
/// "Unknown", "Unknown speed", 0, 63 and 255 lanes. And what is expected instead of others.
bool is_pcie_speed(std::string_view speed);
bool is_pcie_width(std::string_view width);
std::string expected_pcie_speed();
std::string expected_pcie_width();

/// What a PCIe link of "16.0 GT/s PCIe" (or "16 GT/s") and so many lanes has left for payload, one direction; nothing
/// of other texts and of what no link has.
std::optional<Rate> pcie_payload(std::string_view speed, std::string_view width);

/// "90" of 9.0, or "" where nothing tells it.
bool is_compute_capability(std::string_view text);

/// One NVLink, one direction, nominal, of a GPU of this compute capability.
Rate nvlink_of(std::string_view compute_capability);

}  // namespace tilerail
