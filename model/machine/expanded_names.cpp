#include "model/machine/expanded_names.hpp"

#include <fmt/format.h>

#include "model/base/name_pattern.hpp"
#include "model/base/topology_limits.hpp"

namespace tilerail {

std::vector<std::string> expanded_names(const TomlValue& text, std::size_t most) {
  const std::string pattern = text.text();
  if (pattern.find('[') == std::string::npos) return {pattern};
  try {
    return NamePattern{pattern}.expanded(most);
  } catch (const InputError& error) {
    text.fail(fmt::format("is no list of names: {}", error.what()));
  }
}

std::vector<std::string> expanded_names(const TomlTable& table) {
  const auto names = table.find("names");
  if (!names && !table.find("name")) {
    table.need("name");
    throw TomlConsequence{};  // it has no entries
  }
  if (!names) return {table.need("name").text()};
  if (table.find("name")) names->fail("stands next to 'name'; expected one of the two");
  if (!names->is_list()) return expanded_names(*names, TopologyLimits::nodes);
  std::vector<std::string> all;
  for (const TomlValue& each : names->list(TopologyLimits::nodes)) {
    const auto some = expanded_names(each, TopologyLimits::nodes);
    all.insert(all.end(), some.begin(), some.end());
  }
  if (all.empty()) names->fail("is empty; expected at least one name");
  if (all.size() > TopologyLimits::nodes)
    names->fail(fmt::format("stands for {} names; expected at most {}", all.size(), TopologyLimits::nodes));
  return all;
}

std::vector<std::string> part_of(const std::vector<std::string>& items, std::size_t index, std::size_t count,
                                 const TomlValue& value) {
  const std::size_t length = items.size() / count;
  if (items.empty() || items.size() % count != 0)
    value.fail(
        fmt::format("stands for {} names, and the table for {}; expected as many for each", items.size(), count));
  const auto begin = items.begin() + static_cast<std::ptrdiff_t>(index * length);
  return {begin, begin + static_cast<std::ptrdiff_t>(length)};
}

}  // namespace tilerail
