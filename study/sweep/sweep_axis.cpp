#include "study/sweep/sweep_axis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "study/sweep/keys.hpp"

namespace tilerail::study {

std::string SweepAxis::column() const {
  const std::string name = fmt::format("{}", fmt::join(keys, " & "));
  return values.unit.empty() ? name : fmt::format("{}_{}", name, values.unit);
}

SweepAxis parse_axis(const std::string& text, std::string_view option) {
  const std::string place = fmt::format("{} {}", option, in_quotes(text));
  SweepAxis axis{{}, {}, place, place};
  try {
    const std::string_view all = text;
    const size_t first = all.find('=');
    if (first == std::string::npos || first == 0) throw InputError{"", text, "", "KEY=VALUES, such as gemm=4K..16K x2"};
    size_t equals = first;
    while (equals != std::string::npos && (axis.keys = known_parts(all.substr(0, equals), is_key)).empty())
      equals = all.find('=', equals + 1);
    if (axis.keys.empty()) {  // a key is unknown, which is told later
      equals = first;
      for (const std::string_view key : split(all.substr(0, first), '&')) axis.keys.push_back(trimmed(key));
      if (std::ranges::find(axis.keys, "") != axis.keys.end()) throw missing("key", "one next to '&'");
    }
    axis.values = values_of(axis.keys, all.substr(equals + 1));
  } catch (const InputError& error) {
    throw error.at(place);
  }
  return axis;
}

SweepValues values_of(const std::vector<std::string>& keys, const std::vector<std::string>& items) {
  return std::ranges::any_of(keys, is_text_key) ? texts_in(items) : expand_values(items);
}

SweepValues values_of(const std::vector<std::string>& keys, std::string_view text) {
  return values_of(keys, items_in(text));
}

}  // namespace tilerail::study
