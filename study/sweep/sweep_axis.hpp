#pragma once

#include <string>
#include <vector>

#include "study/sweep/values.hpp"

namespace tilerail::study {

/// Keys that take the same values, one after another.
struct SweepAxis {
  std::vector<std::string> keys;
  SweepValues values;
  std::string place = {};         // of the keys: "sweep.toml:7:7" or "vary 'TEXT'"
  std::string values_place = {};  // of the values

  /// The keys joined by " & ", and "_GB/s" where the values have a unit.
  std::string column() const;
};

/// "KEY=VALUES" or "KEY & KEY=VALUES". Names in keys may hold '=' and '&': the text is parted where keys are known on
/// both sides. Throws InputError at the text.
SweepAxis parse_axis(const std::string& text, std::string_view option = "vary");

/// The values of these keys as a list of a file has them.
SweepValues values_of(const std::vector<std::string>& keys, const std::vector<std::string>& items);
/// The same, as one text.
SweepValues values_of(const std::vector<std::string>& keys, std::string_view text);

}  // namespace tilerail::study
