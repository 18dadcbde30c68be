#include "model/machine/settings/setting_value.hpp"

#include <charconv>
#include <cmath>

#include "model/base/error.hpp"
#include "model/machine/toml_text.hpp"
#include "model/machine/topology_reader.hpp"

namespace tilerail {
namespace {

/// "x2" as 2; nothing of another text.
std::optional<double> factor_of(std::string_view text) {
  double factor = 0;
  if (!text.starts_with('x')) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), factor);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(factor) || factor < 0)
    return std::nullopt;
  return factor;
}

/// A copy of a node does not remember the line that it came from.
toml::table both_forms(const std::string& text) {
  toml::table forms{{"text", text}, {"parsed", text}};
  try {
    const std::string line = "value = " + text;
    const toml::table parsed = parsed_toml(line, "", line.size());
    const toml::node* const value = parsed.get("value");
    if (parsed.size() == 1 && (value->is_number() || value->is_array())) forms.insert_or_assign("parsed", *value);
  } catch (const InputError&) {  // "12 GB/s" is no TOML without its quotes
  }
  return forms;
}

}  // namespace

SettingValue::SettingValue(std::string_view text, std::string setting)
    : text_{text}, file_{std::move(setting)}, factor_{factor_of(text)}, table_{both_forms(text_)} {
  if (text.starts_with('x') && !factor_) fail("is no factor; expected such as x2 or x0.5");
}

void SettingValue::fail(const std::string& message) const {
  throw InputError{fmt::format("{}: the value {} {}", file_.name, in_quotes(text_), message)};
}

int SettingValue::in_range(double value, const Range<int>& range) const {
  if (value != std::floor(value) || value < range.least || value > range.most)
    fail(fmt::format("gives {}; expected an integer, {}", shortest(value), range.text));
  return static_cast<int>(value);
}

bool SettingValue::apply(std::optional<CapacityCurve>& curve) const {
  if (is_factor() && !curve) return false;
  if (is_none()) {
    curve.reset();
  } else if (is_inf()) {
    curve = CapacityCurve{{{1, TopologyLimits::rate.most}}};
  } else if (is_factor()) {
    for (CapacityCurve::Point& point : curve->points) apply(point.rate, TopologyLimits::rate);
  } else {
    curve = read_capacity(value("parsed"));
  }
  return true;
}

double SettingValue::factor_on(FlopRate now) const {
  FlopRate then = now;
  apply(then, TopologyLimits::flop_rate);
  return then / now;
}

}  // namespace tilerail
