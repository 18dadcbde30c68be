#include "model/import/link_values.hpp"

#include <algorithm>
#include <charconv>

#include "model/import/assumptions.hpp"

namespace tilerail {
namespace {

/// GT/s: the number before " GT/s".
std::optional<double> transfers(std::string_view speed) {
  constexpr std::string_view unit = " GT/s", rest = " PCIe";
  if (speed.ends_with(rest)) speed.remove_suffix(rest.size());
  if (!speed.ends_with(unit)) return std::nullopt;
  speed.remove_suffix(unit.size());
  double value = 0;
  const auto [end, error] = std::from_chars(speed.data(), speed.data() + speed.size(), value, std::chars_format::fixed);
  const bool whole = error == std::errc{} && end == speed.data() + speed.size();
  return whole && value > 0 && value <= assumptions::most_transfers ? std::optional{value} : std::nullopt;
}

}  // namespace

std::optional<int> whole_number(std::string_view text, int least, int most) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && value >= least && value <= most ? std::optional{value} : std::nullopt;
}

std::optional<Rate> pcie_payload(std::string_view speed, std::string_view width) {
  namespace known = assumptions;
  const auto per_lane = transfers(speed);
  const auto lanes = whole_number(width, 1, 32);
  if (!per_lane || !lanes || std::ranges::find(known::pcie_widths, *lanes) == known::pcie_widths.end())
    return std::nullopt;
  const double payload = *per_lane < known::line_code_from ? known::old_line_code
                         : *per_lane < known::flits_from   ? known::line_code
                                                           : known::flits;
  return Rate{*per_lane * 1e9 * *lanes / 8 * payload};
}

Rate nvlink_of(std::string_view compute_capability) {
  const auto sm = whole_number(compute_capability, 1, 1000);
  if (!sm) return assumptions::nvlink_nominal;
  for (const auto& [from, rate] : assumptions::nvlinks)
    if (*sm >= from) return rate;
  return assumptions::nvlinks.back().second;
}

}  // namespace tilerail
