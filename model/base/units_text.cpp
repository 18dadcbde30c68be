#include "model/base/units_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <span>

#include "model/base/error.hpp"
#include "model/base/text.hpp"

namespace tilerail {
namespace {

/// value = number * times / over. Small units divide, because 1e6 is an exact double and
/// 1e-6 is not.
struct Unit {
  std::string_view name;
  double times = 1, over = 1;
};

constexpr const char* per_second = "/s";  // suffix of a rate after the unit of bytes

constexpr double ki = 1024, mi = ki * ki, gi = mi * ki, ti = gi * ki;

// Largest first; the base unit has times == over == 1. Binary units come last, because
// output uses decimal units.
constexpr std::array byte_units{Unit{"PB", 1e15}, Unit{"TB", 1e12}, Unit{"GB", 1e9},
                                Unit{"MB", 1e6},  Unit{"KB", 1e3},  Unit{"kB", 1e3},
                                Unit{"B"},        Unit{"TiB", ti},  Unit{"GiB", gi},
                                Unit{"MiB", mi},  Unit{"KiB", ki}};
constexpr std::array second_units{Unit{"s"}, Unit{"ms", 1, 1e3}, Unit{"us", 1, 1e6},
                                  Unit{"ns", 1, 1e9}};
constexpr std::array flop_units{Unit{"PFLOP/s", 1e15}, Unit{"TFLOP/s", 1e12},
                                Unit{"GFLOP/s", 1e9}, Unit{"MFLOP/s", 1e6},
                                Unit{"FLOP/s"}};
constexpr std::array watt_units{Unit{"MW", 1e6}, Unit{"kW", 1e3}, Unit{"W"},
                                Unit{"mW", 1, 1e3}};

double parse(std::string_view text, std::string_view subject, std::span<const Unit> units,
             std::string_view known_units, std::string_view suffix = {}) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !std::isfinite(number))
    throw InputError{subject, text, "is not a number with a unit", known_units};
  std::string_view unit = text.substr(size_t(end - text.data()));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  const auto known = std::ranges::find_if(units, [&](const Unit& u) {
    return unit.ends_with(suffix) &&
           unit.substr(0, unit.size() - suffix.size()) == u.name;
  });
  if (known == units.end())
    throw InputError{subject, text, "has no known unit", known_units};
  const double value = number * known->times / known->over;
  if (!std::isfinite(value))
    throw InputError{subject, text, "is too large", "a finite value"};
  return value;
}

/// Uses the largest unit in which the number is at least one and reads back exactly, else
/// the base unit. The quotient by a unit may have unnecessary digits (7.978999999999999
/// us for 7.979), or digits that only this unit needs (10.180000000000001 us are 10180
/// ns). Therefore numbers with 15 digits, the precision of all doubles, are tried first.
std::string write(double value, std::span<const Unit> units) {
  const auto quotient = [&](const Unit& unit) { return value * unit.over / unit.times; };
  const auto few_digits = [&](const Unit& unit) {
    return std::strtod(fmt::format("{:.15g}", quotient(unit)).c_str(), nullptr);
  };
  for (const bool few : {true, false})
    for (const Unit& unit : units) {
      const double number = few ? few_digits(unit) : quotient(unit);
      if (std::abs(number) >= 1 && number * unit.times / unit.over == value)
        return fmt::format("{} {}", shortest(number), unit.name);
    }
  const auto base = std::ranges::find_if(
      units, [](const Unit& unit) { return unit.times == 1 && unit.over == 1; });
  return shortest(value) + " " + std::string{base->name};
}

/// Uses the largest unit in which the rounded number is at least one, else the base unit.
std::string write_brief(double value, std::span<const Unit> units) {
  constexpr double least = 0.9995,
                   most = 999.5;  // rounded to 1 and to 1000 in three digits
  const auto number = [&](const Unit& unit) { return value * unit.over / unit.times; };
  auto unit =
      std::ranges::find_if(units, [&](const Unit& u) { return number(u) >= least; });
  if (unit == units.end())
    unit = std::ranges::find_if(
        units, [](const Unit& u) { return u.times == 1 && u.over == 1; });
  const double shown = number(*unit);
  return (shown < most ? fmt::format("{:.3g} ", shown) : fmt::format("{:.0f} ", shown)) +
         std::string{unit->name};
}

}  // namespace

Bytes parse_bytes(std::string_view text, std::string_view subject) {
  return Bytes{parse(text, subject, byte_units, "GB, MiB or B")};
}
Seconds parse_seconds(std::string_view text, std::string_view subject) {
  return Seconds{parse(text, subject, second_units, "s, ms, us or ns")};
}
Rate parse_rate(std::string_view text, std::string_view subject) {
  return Rate{
      parse(text, subject, byte_units, "GB/s or GiB/s (8 Gb/s are 1 GB/s)", per_second)};
}
FlopRate parse_flop_rate(std::string_view text, std::string_view subject) {
  return FlopRate{parse(text, subject, flop_units, "TFLOP/s or GFLOP/s")};
}
Watts parse_watts(std::string_view text, std::string_view subject) {
  return Watts{parse(text, subject, watt_units, "W or kW")};
}

std::string to_text(Bytes value) { return write(value.value, byte_units); }
std::string to_text(Seconds value) { return write(value.value, second_units); }
std::string to_text(Rate value) { return write(value.value, byte_units) + per_second; }
std::string to_text(FlopRate value) { return write(value.value, flop_units); }
std::string to_text(Watts value) { return write(value.value, watt_units); }

std::string brief_text(Seconds value) { return write_brief(value.value, second_units); }
std::string brief_text(Rate value) {
  return write_brief(value.value, byte_units) + per_second;
}
std::string brief_text(FlopRate value) { return write_brief(value.value, flop_units); }

std::string shortest(double value) {
  std::array<char, 32> digits;
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end};
}

std::string typed(double value) {
  constexpr double exact = 1e15;
  return std::round(value) == value && std::abs(value) < exact
             ? fmt::format("{:.0f}", value)
             : shortest(value);
}

std::string in_quotes(std::string_view text, size_t longest) {
  return fmt::format("'{}{}'", escaped(cut(text, longest)),
                     text.size() > longest ? "..." : "");
}

}  // namespace tilerail
