#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "model/base/toml_table.hpp"
#include "model/machine/figures.hpp"

namespace tilerail {

/// The value of a figure. Rejects missing values, and values without the figure that they
/// depend on.
inline std::optional<TomlValue> value_of(const TomlTable& table, std::string_view key,
                                         bool is_needed, std::string_view next_to) {
  if (is_needed) return table.need(key);
  auto value = table.find(key);
  const auto neighbour = table.find(next_to);
  if (value && !next_to.empty() && (!neighbour || neighbour->is_empty_list()))
    value->fail("has no meaning here", fmt::format("it next to '{}'", next_to));
  return value;
}

/// "[column, efficiency] or [column, pitch, efficiency]"
template <class Columns>
std::string columns_text(const Columns& columns) {
  std::string all, needed;
  for_each(columns, [&](const auto& column) {
    all.append(all.empty() ? "" : ", ").append(column.key);
    if (is_needed(column)) needed.append(needed.empty() ? "" : ", ").append(column.key);
  });
  return all == needed ? fmt::format("[{}]", all)
                       : fmt::format("[{}] or [{}]", needed, all);
}

template <class Row, class Columns>
void read_row(const TomlValue& value, Row& row, const Columns& columns) {
  const auto entries = value.list(TopologyLimits::points);
  size_t needed = 0, next = 0;
  for_each(columns, [&](const auto& column) { needed += is_needed(column) ? 1 : 0; });
  const bool all = entries.size() == std::tuple_size_v<Columns>;
  if (!all && entries.size() != needed)
    value.fail(fmt::format("has {} entries", entries.size()), columns_text(columns));
  for_each(columns, [&](const auto& column) {
    auto& member = std::invoke(column.member, row);
    using Value = std::remove_cvref_t<decltype(content(member))>;
    if (all || is_needed(column))
      member = static_cast<Value>(entries[next++].in(column.range));
  });
}

template <class Row, class Columns>
std::vector<Row> read_rows(const TomlValue& value, const Columns& columns) {
  std::vector<Row> rows;
  for (const TomlValue& each : value.list(TopologyLimits::points))
    read_row(each, rows.emplace_back(), columns);
  return rows;
}

/// "12 GB/s", or by number of copies: [[1, "22 GB/s"], [4, "72 GB/s"]].
inline CapacityCurve read_curve(const TomlValue& value) {
  if (value.is_text()) return {{{1, value.in(TopologyLimits::rate)}}};
  return {read_rows<CapacityCurve::Point>(value, MachineFigures::of_curves)};
}

template <class Part, class Figures>
void read_figures(const TomlTable& table, Part& part, const Figures& figures);

template <class Part, class Member, class Quantity>
void read_figure(const TomlTable& table, Part& part,
                 const Figure<Member, Quantity>& figure) {
  auto& member = part.*figure.member;
  using Value = std::remove_cvref_t<decltype(content(member))>;
  if (const auto value = value_of(table, figure.key, is_needed(figure), figure.next_to))
    member = static_cast<Value>(value->in(figure.range));
}

template <class Part, class Member, class Columns>
void read_figure(const TomlTable& table, Part& part, const Rows<Member, Columns>& rows) {
  const auto value = value_of(table, rows.key, is_needed(rows), rows.next_to);
  if (!value) return;
  auto& member = std::invoke(rows.member, part);
  if constexpr (std::is_same_v<decltype(member), Part&>) {
    read_row(*value, member, rows.columns);
  } else if constexpr (requires { member.has_value(); }) {
    member = read_curve(*value);
  } else {
    member =
        read_rows<std::remove_cvref_t<decltype(member.front())>>(*value, rows.columns);
  }
}

template <class Part, class Member, class Figures>
void read_figure(const TomlTable& table, Part& part,
                 const Group<Member, Figures>& group) {
  auto& member = std::invoke(group.member, part);
  if (group.key.empty()) {
    if (is_there(part, group)) read_figures(table, content(member), group.figures);
    return;
  }
  const auto value = table.find(group.key);
  if (!value) return;
  const TomlTable inner = value->table();
  inner.allow_only(keys_of(group.figures));
  if constexpr (requires { member.emplace(); }) member.emplace();
  read_figures(inner, content(member), group.figures);
}

/// Reads the figures of a part from its table.
template <class Part, class Figures>
void read_figures(const TomlTable& table, Part& part, const Figures& figures) {
  for_each(figures, [&](const auto& figure) { read_figure(table, part, figure); });
}

}  // namespace tilerail
