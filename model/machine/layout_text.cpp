#include "model/machine/layout_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <climits>
#include <iterator>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/extents.hpp"
#include "model/base/indices.hpp"
#include "model/base/parse.hpp"

namespace tilerail {
namespace {

constexpr std::string_view rows_name = "rows", columns_name = "columns",
                           copies_name = "copies", grid_name = "grid",
                           cyclic_name = "cyclic", irregular_name = "irregular",
                           even_name = "even", range = "..";

/// Short names of layouts over all hosts or GPUs of a machine.
constexpr std::array<std::pair<std::string_view, std::string_view>, 3> short_names{
    {{"h/rows", "rows@hosts"}, {"h/cols", "columns@hosts"}, {"g*", "copies@gpus"}}};

/// "gpu0..gpu2+gpu5": memories with consecutive ids are a range.
std::string members_text(std::span<const MemoryId> members, const Topology& topology) {
  constexpr ptrdiff_t least_range = 3;
  std::vector<std::string> parts;
  for (auto first = members.begin(); first != members.end();) {
    auto end = first + 1;
    while (end != members.end() && end->value == std::prev(end)->value + 1) ++end;
    if (end - first < least_range) end = first + 1;
    parts.push_back(topology.memory(*first).name);
    if (end - first > 1)
      parts.back() += fmt::format("{}{}", range, topology.memory(*std::prev(end)).name);
    first = end;
  }
  return fmt::format("{}", fmt::join(parts, "+"));
}

/// "even", the size of a block, or "0/100/1": the coordinates of all intervals, and the
/// borders between them.
std::string cuts_text(const LayoutCuts& cuts) {
  if (cuts.coordinates.empty())
    return cuts.block > 0 ? std::to_string(cuts.block) : std::string{even_name};
  std::string text = std::to_string(cuts.coordinates.front());
  if (cuts.borders.empty()) text = "0/0/" + text;  // one number is a block
  for (const auto i : indices(cuts.borders))
    text += fmt::format("/{}/{}", cuts.borders[i], cuts.coordinates[i + 1]);
  return text;
}

/// `text`: the layout.
int64_t extent_of(std::string_view size, std::string_view text) try {
  const int64_t number = parse_size(size, "");
  if (number > most_extent) throw out_of_range("", size, "at most 2^40");
  return number;
} catch (const InputError& error) {
  throw InputError{"place", text, fmt::format("has '{}' as a size", size),
                   error.expected};
}

int64_t positive(std::string_view size, std::string_view text) {
  const int64_t number = extent_of(size, text);
  if (number == 0) throw InputError{"place", text, "has a size of 0", "at least 1"};
  return number;
}

LayoutCuts cuts_of(std::string_view cut, std::string_view text) {
  if (cut == even_name) return {};
  const auto parts = split(cut, '/');
  if (parts.size() == 1) return {positive(cut, text)};
  LayoutCuts cuts;
  for (const auto i : indices(parts)) {
    const int64_t number = extent_of(parts[i], text);
    if (i % 2 == 0)
      cuts.coordinates.push_back(int(std::min<int64_t>(number, INT_MAX)));
    else
      cuts.borders.push_back(number);
  }
  return cuts;
}

std::string kind_text(const Layout& layout) {
  const LayoutGrid grid = layout.grid();
  const LayoutCuts rows = layout.row_cuts(), cols = layout.col_cuts();
  if (layout.is_replicated()) return std::string{copies_name};
  std::string sides = fmt::format("{}x{}", grid.rows, grid.cols);
  if (grid.replicas > 1) sides += fmt::format("x{}", grid.replicas);
  if (rows == LayoutCuts{} && cols == LayoutCuts{}) {
    if (grid.replicas == 1 && grid.cols == 1) return std::string{rows_name};
    if (grid.replicas == 1 && grid.rows == 1) return std::string{columns_name};
    return fmt::format("{}({})", grid_name, sides);
  }
  const auto is_cyclic = [](int parts, const LayoutCuts& cuts) {
    return parts == 1 || cuts.block > 0;
  };
  if (!is_cyclic(grid.rows, rows) || !is_cyclic(grid.cols, cols))
    return fmt::format("{}({},{},{})", irregular_name, sides, cuts_text(rows),
                       cuts_text(cols));
  if (rows.block == 0 || cols.block == 0)
    sides += fmt::format(",{}", std::max(rows.block, cols.block));
  else
    sides += fmt::format(",{}x{}", rows.block, cols.block);
  return fmt::format("{}({})", cyclic_name, sides);
}

MemoryId memory_of(std::string_view name, std::string_view text,
                   const Topology& topology) {
  const auto memory = topology.find_memory(name);
  if (!memory || !topology.memory(*memory).over.empty())
    throw InputError{
        "place", text,
        fmt::format("names '{}', which is not a memory of {}", name, topology.name()),
        "hosts, gpus, or names joined by + or .."};
  return *memory;
}

/// `count` of 0: as many as are named.
std::vector<MemoryId> members_of(std::string_view names, std::string_view text,
                                 const Topology& topology, size_t count) {
  std::vector<MemoryId> members;
  if (names == "hosts" || names == "gpus") {
    members = names == "hosts" ? topology.hosts() : topology.gpus();
    if (count > 0 && count < members.size()) members.resize(count);
  } else {
    for (const std::string_view part : split(names, '+')) {
      const size_t dots = part.find(range);
      const MemoryId first = memory_of(part.substr(0, dots), text, topology);
      const MemoryId last =
          dots == std::string_view::npos
              ? first
              : memory_of(part.substr(dots + range.size()), text, topology);
      for (MemoryId m = first; m <= last; ++m.value) members.push_back(m);
    }
  }
  if (members.empty() || (count > 0 && members.size() != count))
    throw InputError{"place", text, fmt::format("names {} memories", members.size()),
                     count > 0 ? fmt::format("{}, one for each block of its grid", count)
                               : "at least one"};
  return members;
}

std::vector<int64_t> numbers(std::string_view sizes, std::string_view text) {
  std::vector<int64_t> all;
  for (const std::string_view size : split(sizes, 'x'))
    all.push_back(positive(size, text));
  return all;
}

LayoutGrid grid_of(std::string_view sizes, std::string_view text) {
  const auto sides = numbers(sizes, text);
  constexpr int64_t most = 4096;
  const bool fits = sides.size() >= 2 && sides.size() <= 3 &&
                    std::ranges::all_of(sides, [](int64_t s) { return s <= most; });
  if (!fits)
    throw InputError{"place", text, "has another grid",
                     fmt::format("PxQ or PxQxC, each at most {}", most)};
  return {int(sides[0]), int(sides[1]), sides.size() == 3 ? int(sides[2]) : 1};
}

/// "grid(2x2)", "cyclic(2x2,512x512)" or "irregular(2x2,0/100/1,even)".
Layout on_grid(std::string_view kind, std::string_view names, std::string_view text,
               const Topology& topology) {
  const size_t open = kind.find('(');
  const auto sizes = split(kind.substr(open + 1, kind.size() - open - 2), ',');
  const std::string_view name = kind.substr(0, open);
  if (sizes.size() != (name == grid_name ? 1 : name == cyclic_name ? 2 : 3))
    throw InputError{
        "place", text, "has other arguments",
        "grid(PxQ), cyclic(PxQ,ROWSxCOLUMNS) or irregular(PxQ,ROWS,COLUMNS)"};
  const LayoutGrid grid = grid_of(sizes[0], text);
  auto members = members_of(names, text, topology, grid.members());
  if (name == grid_name) return {grid, {}, {}, std::move(members)};
  if (name == irregular_name) {
    const LayoutCuts rows = cuts_of(sizes[1], text), cols = cuts_of(sizes[2], text);
    try {
      return {grid, rows, cols, std::move(members)};
    } catch (const InputError& error) {
      throw InputError{
          "place", text,
          fmt::format("has '{}' as {}", error.value.value_or(""), error.subject),
          error.expected};
    }
  }
  const auto block = numbers(sizes[1], text);
  if (block.size() > 2)
    throw InputError{"place", text, fmt::format("has {} sizes of a block", block.size()),
                     "ROWSxCOLUMNS, or one size for both"};
  return Layout::block_cyclic(grid, block.front(), block.back(), std::move(members));
}

}  // namespace

std::string layout_text(const Layout& layout, const Topology& topology) {
  if (layout.is_whole()) return topology.memory(layout.home()).name;
  for (const auto& [name, text] : short_names) {
    const auto& all = text.ends_with("hosts") ? topology.hosts() : topology.gpus();
    if (!all.empty() && layout == layout_from_text(text, topology))
      return std::string{name};
  }
  return fmt::format("{}@{}", kind_text(layout),
                     members_text(layout.members(), topology));
}

std::optional<Layout> layout_from_text(std::string_view text, const Topology& topology) {
  for (const auto& [name, long_text] : short_names)
    if (text == name) text = long_text;
  const size_t at = std::min(text.find('@'), text.size());
  const std::string_view kind = text.substr(0, at),
                         names = at < text.size() ? text.substr(at + 1) : "gpus";
  if (const auto name = kind.substr(0, kind.find('('));
      kind.ends_with(')') &&
      (name == grid_name || name == cyclic_name || name == irregular_name))
    return on_grid(kind, names, text, topology);
  const auto all = [&] { return members_of(names, text, topology, 0); };
  if (kind == rows_name) return Layout::of_rows(all());
  if (kind == columns_name) return Layout::of_columns(all());
  if (kind == copies_name) return Layout::replicated(all());
  return std::nullopt;
}

}  // namespace tilerail
