#include "model/layout.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/error.hpp"
#include "model/base/extents.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

void require(bool holds, std::string_view what, int64_t value,
             std::string_view expected) {
  if (!holds) throw InputError{what, std::to_string(value), "", expected};
}

void check(const LayoutCuts& cuts, int parts) {
  require(cuts.coordinates.size() == cuts.borders.size() + 1, "intervals of a layout",
          int64_t(cuts.coordinates.size()), "one coordinate for each interval");
  const auto descends = std::ranges::is_sorted_until(cuts.borders);
  require(descends == cuts.borders.end(), "border of a layout",
          descends == cuts.borders.end() ? 0 : *descends, "ascending borders");
  for (const int at : cuts.coordinates)
    require(at >= 0 && at < parts, "coordinate of a layout", at,
            fmt::format("less than {}", parts));
}

/// The same cuts for every extent in their simplest form: without empty intervals, and
/// neighbours have different coordinates.
LayoutCuts canonical(const LayoutCuts& cuts, int parts) {
  if (!cuts.coordinates.empty()) check(cuts, parts);
  if (parts == 1) return {};
  if (cuts.coordinates.empty()) return cuts;
  LayoutCuts result;
  for (const auto i : indices(cuts.coordinates)) {
    const int64_t begin = i == 0 ? 0 : cuts.borders[i - 1];
    const bool is_empty = i < cuts.borders.size() && cuts.borders[i] == begin;
    const bool is_first = result.coordinates.empty();
    if (is_empty || (!is_first && result.coordinates.back() == cuts.coordinates[i]))
      continue;
    if (!is_first) result.borders.push_back(begin);
    result.coordinates.push_back(cuts.coordinates[i]);
  }
  return result;
}

struct Interval {
  int64_t begin, end;
  int coordinate;
};

/// The nonempty intervals of an extent, ascending.
std::vector<Interval> intervals(const LayoutCuts& cuts, int64_t extent, int parts) {
  std::vector<Interval> result;
  const auto add = [&](int64_t begin, int64_t end, int coordinate) {
    if (begin < end) result.push_back({begin, end, coordinate});
  };
  if (cuts.block > 0) {
    for (int64_t i = 0; i * cuts.block < extent; ++i)
      add(i * cuts.block, std::min((i + 1) * cuts.block, extent), int(i % parts));
    return result;
  }
  if (cuts.coordinates.empty()) {
    const auto borders = even_borders(extent, parts);
    for (int i = 0; i < parts; ++i) add(borders[size_t(i)], borders[size_t(i) + 1], i);
    return result;
  }
  for (const auto i : indices(cuts.coordinates)) {
    const int64_t begin = i == 0 ? 0 : cuts.borders[i - 1],
                  end = i == cuts.borders.size() ? extent : cuts.borders[i];
    add(begin, std::min(end, extent), cuts.coordinates[i]);
  }
  return result;
}

}  // namespace

std::vector<int64_t> even_borders(int64_t extent, int parts) {
  constexpr int64_t unit = 64, least_units = 8;
  const int64_t align = extent >= parts * unit * least_units ? unit : 1;
  std::vector<int64_t> borders;
  for (int i = 0; i < parts; ++i)
    borders.push_back((extent * i / parts + align / 2) / align * align);
  borders.push_back(extent);
  return borders;
}

Layout::Layout(LayoutGrid grid, const LayoutCuts& rows, const LayoutCuts& cols,
               std::vector<MemoryId> members) {
  require(grid.rows > 0 && grid.cols > 0 && grid.replicas > 0, "grid of a layout", 0,
          "at least 1 in each dimension");
  const auto most = int64_t(members.size());
  require(std::max({grid.rows, grid.cols, grid.replicas}) <= most &&
              members.size() == grid.members(),
          "members of a layout", most,
          fmt::format("{}, as its grid of {} x {} x {} has", grid.members(), grid.rows,
                      grid.cols, grid.replicas));
  if (members.size() == size_t(grid.replicas))
    std::ranges::sort(members);  // the order of replicas has no meaning
  first_ = members.front();
  if (members.size() > 1)
    parts_ = std::make_shared<const Parts>(Parts{grid, canonical(rows, grid.rows),
                                                 canonical(cols, grid.cols),
                                                 std::move(members)});
}

Layout Layout::of_rows(std::vector<MemoryId> members) {
  const LayoutGrid grid{int(members.size()), 1, 1};
  return {grid, {}, {}, std::move(members)};
}

Layout Layout::of_columns(std::vector<MemoryId> members) {
  const LayoutGrid grid{1, int(members.size()), 1};
  return {grid, {}, {}, std::move(members)};
}

Layout Layout::replicated(std::vector<MemoryId> members) {
  const LayoutGrid grid{1, 1, int(members.size())};
  return {grid, {}, {}, std::move(members)};
}

Layout Layout::block_cyclic(LayoutGrid grid, int64_t rows, int64_t cols,
                            std::vector<MemoryId> members) {
  return {grid, {rows}, {cols}, std::move(members)};
}

bool Layout::has(MemoryId memory) const {
  return std::ranges::find(members(), memory) != members().end();
}

std::vector<MatrixBlock> Layout::blocks(int64_t rows, int64_t cols,
                                        size_t replica) const {
  if (!parts_) return {{first_, 0, 0, rows, cols}};
  const LayoutGrid& grid = parts_->grid;
  const auto of_rows = intervals(parts_->rows, rows, grid.rows);
  std::vector<MatrixBlock> result;
  for (const Interval& c : intervals(parts_->cols, cols, grid.cols))
    for (const Interval& r : of_rows) {
      const size_t column = size_t(c.coordinate) + size_t(grid.cols) * replica;
      result.push_back(
          {parts_->members[size_t(r.coordinate) + size_t(grid.rows) * column], r.begin,
           c.begin, r.end - r.begin, c.end - c.begin});
    }
  return result;
}

double Layout::count_blocks(int64_t rows, int64_t cols) const {
  const auto count = [](const LayoutCuts& cuts, int64_t extent, int parts) {
    if (cuts.block > 0) return double(ceil_div(extent, cuts.block));
    return double(std::max<size_t>(cuts.coordinates.size(), size_t(parts)));
  };
  if (!parts_) return 1;
  return count(parts_->rows, rows, parts_->grid.rows) *
         count(parts_->cols, cols, parts_->grid.cols) * parts_->grid.replicas;
}

std::strong_ordering Layout::operator<=>(const Layout& other) const {
  if (!parts_ && !other.parts_) return first_ <=> other.first_;
  if (!parts_ || !other.parts_) return bool(parts_) <=> bool(other.parts_);
  return *parts_ <=> *other.parts_;
}

}  // namespace tilerail
