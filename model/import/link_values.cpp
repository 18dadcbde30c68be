#include "model/import/link_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/base/number_text.hpp"
#include "model/import/assumptions.hpp"

namespace tilerail {
namespace {

bool contains(const auto& values, const auto& value) { return std::ranges::find(values, value) != values.end(); }

/// GT/s: the number before " GT/s".
std::optional<double> transfers(std::string_view speed) {
  constexpr std::string_view unit = " GT/s", rest = " PCIe";
  if (speed.ends_with(rest)) speed.remove_suffix(rest.size());
  if (!speed.ends_with(unit)) return std::nullopt;
  speed.remove_suffix(unit.size());
  const auto value = number_in<double>(speed, std::chars_format::fixed);
  return value && contains(assumptions::pcie_transfers, *value) ? value : std::nullopt;
}

std::optional<int> lanes(std::string_view width) {
  const auto value = whole_number(width, 1, assumptions::pcie_widths.back());
  return value && contains(assumptions::pcie_widths, *value) ? value : std::nullopt;
}

constexpr std::array<std::string_view, 4> no_speed{"", "Unknown speed", "Unknown", "255"};
constexpr std::array<std::string_view, 4> no_width{"", "0", "63", "255"};
constexpr int least_capability = 10, most_capability = 999;  // 1.0 to 99.9

}  // namespace

bool is_pcie_speed(std::string_view speed) { return transfers(speed) || contains(no_speed, speed); }
bool is_pcie_width(std::string_view width) { return lanes(width) || contains(no_width, width); }

std::string expected_pcie_speed() {
  return fmt::format("{} GT/s, or 'Unknown'", fmt::join(assumptions::pcie_transfers, ", "));
}

std::string expected_pcie_width() {
  return fmt::format("{} lanes, or 0, 63 or 255 where nothing tells them", fmt::join(assumptions::pcie_widths, ", "));
}

bool is_compute_capability(std::string_view text) {
  return text.empty() || whole_number(text, least_capability, most_capability);
}

std::optional<int> whole_number(std::string_view text, int least, int most) {
  const auto value = number_in<int>(text);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

std::optional<Rate> pcie_payload(std::string_view speed, std::string_view width) {
  namespace known = assumptions;
  const auto per_lane = transfers(speed);
  const auto count = lanes(width);
  if (!per_lane || !count) return std::nullopt;
  const double payload = *per_lane < known::line_code_from ? known::old_line_code
                         : *per_lane < known::flits_from   ? known::line_code
                                                           : known::flits;
  return Rate{*per_lane * 1e9 * *count / 8 * payload};
}

Rate nvlink_of(std::string_view compute_capability) {
  const auto sm = whole_number(compute_capability, least_capability, most_capability);
  if (!sm) return assumptions::nvlink_nominal;
  for (const auto& [from, rate] : assumptions::nvlinks)
    if (*sm >= from) return rate;
  return assumptions::nvlinks.back().second;
}

}  // namespace tilerail
