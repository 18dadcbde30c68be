#pragma once

#include <compare>

namespace tilerail {

/// A physical quantity in SI units. Dimensions are checked at compile time: bytes / rate
/// is seconds.
template <class Dimension>
struct Quantity {
  double value = 0;

  constexpr Quantity() = default;
  constexpr explicit Quantity(double v) : value{v} {}

  constexpr Quantity& operator+=(Quantity other) { return value += other.value, *this; }
  constexpr Quantity& operator-=(Quantity other) { return value -= other.value, *this; }
  constexpr Quantity& operator*=(double factor) { return value *= factor, *this; }

  auto operator<=>(const Quantity&) const = default;
  // Equivalent to <=>, but without the branch for unordered numbers.
  friend constexpr bool operator<(Quantity a, Quantity b) { return a.value < b.value; }
  friend constexpr bool operator>(Quantity a, Quantity b) { return a.value > b.value; }
  friend constexpr bool operator<=(Quantity a, Quantity b) { return a.value <= b.value; }
  friend constexpr bool operator>=(Quantity a, Quantity b) { return a.value >= b.value; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity{a.value + b.value};
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity{a.value - b.value};
  }
  friend constexpr Quantity operator-(Quantity a) { return Quantity{-a.value}; }
  friend constexpr Quantity operator*(Quantity a, double f) {
    return Quantity{a.value * f};
  }
  friend constexpr Quantity operator*(double f, Quantity a) {
    return Quantity{a.value * f};
  }
  friend constexpr Quantity operator/(Quantity a, double f) {
    return Quantity{a.value / f};
  }
  friend constexpr double operator/(Quantity a, Quantity b) { return a.value / b.value; }
};

using Bytes = Quantity<struct BytesTag>;                    // B
using Seconds = Quantity<struct SecondsTag>;                // s
using Rate = Quantity<struct RateTag>;                      // B/s
using SecondsPerByte = Quantity<struct SecondsPerByteTag>;  // s/B
using Flops = Quantity<struct FlopsTag>;                    // floating-point operations
using FlopRate = Quantity<struct FlopRateTag>;              // flop/s
using Watts = Quantity<struct WattsTag>;                    // W
using Joules = Quantity<struct JoulesTag>;                  // J

constexpr Seconds operator/(Bytes b, Rate r) { return Seconds{b.value / r.value}; }
constexpr Rate operator/(Bytes b, Seconds s) { return Rate{b.value / s.value}; }
constexpr Bytes operator*(Rate r, Seconds s) { return Bytes{r.value * s.value}; }
constexpr Seconds operator*(Bytes b, SecondsPerByte each) {
  return Seconds{b.value * each.value};
}
constexpr SecondsPerByte operator/(Seconds s, Bytes b) {
  return SecondsPerByte{s.value / b.value};
}
constexpr SecondsPerByte inverse(Rate r) { return SecondsPerByte{1 / r.value}; }
constexpr Rate inverse(SecondsPerByte each) { return Rate{1 / each.value}; }
constexpr Seconds operator/(Flops f, FlopRate r) { return Seconds{f.value / r.value}; }
constexpr FlopRate operator/(Flops f, Seconds s) { return FlopRate{f.value / s.value}; }
constexpr Joules operator*(Watts w, Seconds s) { return Joules{w.value * s.value}; }
constexpr Watts operator/(Joules j, Seconds s) { return Watts{j.value / s.value}; }
constexpr Seconds operator/(Joules j, Watts w) { return Seconds{j.value / w.value}; }

}  // namespace tilerail
