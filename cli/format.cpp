#include "cli/format.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace tilerail::cli {
namespace {

struct Prefix {
  double factor;
  const char* name;
};

constexpr std::array<Prefix, 7> prefixes = {
    {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}, {1e-3, "m"}, {1e-6, "u"}}};

/// Four significant digits, with the largest prefix that is no larger than the value.
std::string scaled(double value, const char* unit) {
  if (value == 0) return fmt::format("0 {}", unit);
  Prefix chosen = prefixes.back();
  for (const Prefix& prefix : prefixes) {
    if (std::abs(value) >= prefix.factor) {
      chosen = prefix;
      break;
    }
  }
  return fmt::format("{:.4g} {}{}", value / chosen.factor, chosen.name, unit);
}

}  // namespace

std::string text_of(Bytes bytes) { return scaled(bytes.value, "B"); }
std::string text_of(Seconds seconds) {
  return std::abs(seconds.value) >= 1 ? fmt::format("{:.4g} s", seconds.value) : scaled(seconds.value, "s");
}
std::string text_of(Rate rate) { return scaled(rate.value, "B/s"); }
std::string text_of(FlopRate rate) { return scaled(rate.value, "FLOP/s"); }
std::string gigabytes(Rate rate) { return fmt::format("{:.1f}", rate.value / 1e9); }

}  // namespace tilerail::cli
