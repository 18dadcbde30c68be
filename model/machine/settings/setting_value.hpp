#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "model/base/toml_table.hpp"
#include "model/base/topology_limits.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// The value of a setting: a figure as a topology file has it, but without quotes; "x2", a factor on what is there;
/// "inf", no bound; or "none", as if the file had no such key. Every member throws InputError naming the setting.
class SettingValue {
 public:
  /// `setting`: the whole of it, for errors.
  SettingValue(std::string_view text, std::string setting);

  bool is_factor() const { return factor_.has_value(); }
  bool is_inf() const { return text_ == "inf"; }
  bool is_none() const { return text_ == "none"; }
  const std::string& text() const { return text_; }
  [[noreturn]] void fail(const std::string& message) const;

  /// Replaces a figure that every such table has. "inf" of a rate is the largest that the range allows.
  template <class Quantity>
  void apply(Quantity& figure, const Range<Quantity>& range) const {
    if (is_none()) fail("cannot be absent; expected a value");
    figure = is_factor() ? in_range(figure * *factor_, range) : is_inf() ? largest(range) : read(range);
  }

  /// Replaces a figure that may be absent. False, and nothing done, for a factor on one that is.
  template <class Quantity>
  bool apply(std::optional<Quantity>& figure, const Range<Quantity>& range) const {
    if (is_factor() && !figure) return false;
    if (is_none() || (is_inf() && absent_is_unbounded(figure))) {
      figure.reset();
      return true;
    }
    Quantity value = figure.value_or(Quantity{});
    apply(value, range);
    figure = value;
    return true;
  }

  bool apply(std::optional<CapacityCurve>& curve) const;

  /// The factor that the value is, on a rate that is `now`.
  double factor_on(FlopRate now) const;

 private:
  static bool absent_is_unbounded(const std::optional<Bytes>&) { return true; }
  static bool absent_is_unbounded(const std::optional<Rate>&) { return true; }
  static bool absent_is_unbounded(const std::optional<int>&) { return true; }
  template <class Quantity>
  static bool absent_is_unbounded(const std::optional<Quantity>&) {
    return false;
  }

  static Rate largest(const Range<Rate>& range) { return range.most; }
  static FlopRate largest(const Range<FlopRate>& range) { return range.most; }
  template <class Quantity>
  Quantity largest(const Range<Quantity>& range) const {
    fail(fmt::format("means nothing here; expected {}", range.text));
  }

  template <class Quantity>
  Quantity in_range(Quantity value, const Range<Quantity>& range) const {
    if (!range.holds(value)) fail(fmt::format("gives {}; expected {}", to_text(value), range.text));
    return value;
  }
  int in_range(double value, const Range<int>& range) const;

  Bytes read(const Range<Bytes>& range) const { return value().bytes(range); }
  Seconds read(const Range<Seconds>& range) const { return value().seconds(range); }
  Rate read(const Range<Rate>& range) const { return value().rate(range); }
  FlopRate read(const Range<FlopRate>& range) const { return value().flop_rate(range); }
  Watts read(const Range<Watts>& range) const { return value().watts(range); }
  double read(const Range<double>& range) const { return value("parsed").number(range); }
  int read(const Range<int>& range) const { return static_cast<int>(value("parsed").integer(range.least, range.most)); }

  TomlValue value(const char* form = "text") const { return {table_.at(form), file_, "the value"}; }

  std::string text_;
  TomlFile file_;  // named as the setting
  std::optional<double> factor_;
  toml::table table_;  // the value as `text`, and, where it is a number or a list, as that `parsed`
};

}  // namespace tilerail
