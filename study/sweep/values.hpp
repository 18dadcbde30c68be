#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail::study {

/// What a key takes one after another. `texts` are whole values, "50 GB/s"; where all are numbers of one unit, which
/// may be none, `numbers` has these, too.
struct SweepValues {
  std::vector<std::string> texts;
  std::vector<double> numbers = {};
  std::string unit = {};  // "GB/s"; "x" of factors

  bool numeric() const { return !numbers.empty(); }
};

constexpr size_t most_values = 10000;  // of one key

/// A list, "4K,8K" or, of values that hold commas, "8K,8K,64;16K", in which "25..1600 x2 GB/s" stands for 25, 50, ...
/// 1600 GB/s and "2..8 +2" for 2, 4, 6, 8: both ends included where a step meets them. A unit after the last value is
/// that of bare numbers before it. Each of `items` is a value or a range. Throws InputError without a
/// place.
SweepValues expand_values(const std::vector<std::string>& items);

/// Texts as they stand, without numbers and ranges. Throws as above.
SweepValues texts_in(const std::vector<std::string>& items);

/// What is between commas or, where there is one, between semicolons.
std::vector<std::string> items_in(std::string_view text);

}  // namespace tilerail::study
