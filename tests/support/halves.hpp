#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "model/problem.hpp"

namespace tilerail::test {

/// The format of a half, by IEEE 754 for f16; bf16 is the upper part of an f32.
struct HalfFormat {
  int mantissa, bias;
  explicit HalfFormat(DType dtype)
      : mantissa{dtype == DType::f16 ? 10 : 7}, bias{dtype == DType::f16 ? 15 : 127} {}
};

/// A value rounded to the nearest half, ties to even. Limit: finite results only.
inline uint16_t half_bits(double value, DType dtype) {
  const HalfFormat format{dtype};
  const int least = 1 - format.bias,
            exponent = value == 0 ? least : std::max(least, std::ilogb(value));
  const double digits =
      std::nearbyint(std::ldexp(std::abs(value), format.mantissa - exponent));
  const int bits = ((exponent - least) << format.mantissa) + int(digits);
  return uint16_t(bits | (std::signbit(value) ? 0x8000 : 0));
}

inline double half_value(uint16_t bits, DType dtype) {
  const HalfFormat format{dtype};
  const int exponent = (bits & 0x7FFF) >> format.mantissa,
            digits = bits & ((1 << format.mantissa) - 1);
  if (exponent == 2 * format.bias + 1) return NAN;  // or infinite
  const int one = exponent == 0 ? 0 : 1 << format.mantissa;
  const double size =
      std::ldexp(one + digits, std::max(exponent, 1) - format.bias - format.mantissa);
  return bits & 0x8000 ? -size : size;
}

/// The value as an element of this type stores it.
inline double stored(double value, DType dtype) {
  if (std::isnan(value) || dtype == DType::f64) return value;
  return element_size(dtype) == 2 ? half_value(half_bits(value, dtype), dtype)
                                  : double(float(value));
}

}  // namespace tilerail::test
