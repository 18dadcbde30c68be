#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "model/base/topology_limits.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// Condition under which a table contains a figure.
enum class Presence : uint8_t {
  by_type,     // always, except for a std::optional
  needed,      // always
  has_default  // if different from the part's default
};

/// A figure of a part of a machine: `key = value` in its table. Its unit follows from the
/// type of the range.
template <class Member, class Quantity>
struct Figure {
  std::string_view key;
  Member member;  // of the part: a pointer, or a function that returns a reference
  const Range<Quantity>& range;
  Presence presence = Presence::by_type;
  std::string_view next_to = {};  // another figure that must be present
};
// clang 14 lacks argument deduction for aggregates.
template <class Member, class Quantity, class... Rest>
Figure(std::string_view, Member, const Range<Quantity>&, Rest...)
    -> Figure<Member, Quantity>;

/// A list of rows: `key = [[column, column], ...]`. One column may be optional.
template <class Member, class Columns>
struct Rows {
  std::string_view key;
  Member member;
  Columns columns;
  bool ascend = true;  // by the first column
  Presence presence = Presence::has_default;
  std::string_view next_to = {};
};
template <class Member, class Columns, class... Rest>
Rows(std::string_view, Member, Columns, Rest...) -> Rows<Member, Columns>;

/// Figures in their own table, `key = { ... }`, or, with an empty key, in the part's
/// table.
template <class Member, class Figures>
struct Group {
  std::string_view key;
  Member member;
  Figures figures;
  Presence presence = Presence::has_default;
  std::string_view next_to = {};
};
template <class Member, class Figures, class... Rest>
Group(std::string_view, Member, Figures, Rest...) -> Group<Member, Figures>;

inline constexpr std::array<std::string_view, 4> trans_pairs{"NN", "NT", "TN", "TT"};
inline constexpr std::array<std::string_view, 4> source_kinds{"measured", "fitted",
                                                              "published", "assumed"};

/// Every figure of a machine file: key, member and range. The reader, the checker, the
/// writer and the settings are generated from this table. docs/formats.md#ranges lists
/// the meanings.
struct MachineFigures : TopologyLimits {
  using enum Presence;
  struct Self {
    template <class Part>
    Part& operator()(Part& part) const {
      return part;
    }
  };
  static constexpr Self self{};

  static constexpr std::tuple of_links{Figure{"bandwidth", &Link::bandwidth, rate},
                                       Figure{"latency", &Link::latency, latency},
                                       Figure{"per_flow", &Link::per_flow, rate}};

  static constexpr std::tuple of_curves{
      Figure{"copies", &CapacityCurve::Point::flows, copies},
      Figure{"rate", &CapacityCurve::Point::rate, rate}};
  static constexpr std::tuple of_groups{
      Rows{"capacity", &CapacityGroup::capacity, of_curves},
      Rows{"both_busy", &CapacityGroup::both_busy, of_curves},
      Figure{"forward_share", &CapacityGroup::forward_share, forward_share}};

  static constexpr std::tuple of_routes{
      Figure{"share", &Topology::Description::NamedRoute::share, share, has_default}};

  static constexpr std::tuple of_engines{
      Figure{"h2d", &Engines::h2d, engines}, Figure{"d2h", &Engines::d2h, engines},
      Figure{"peer", &Engines::peer, engines}, Figure{"total", &Engines::total, engines}};
  static constexpr std::tuple of_power{
      Figure{"idle", &Processor::idle_watts, watts, needed},
      Figure{"busy", &Processor::busy_watts, watts, needed}};
  static constexpr Figure of_device{"device", &Processor::device, device};
  static constexpr std::tuple of_processors{
      Group{"engines", &Processor::engines, of_engines}, Group{"watts", self, of_power}};
  static constexpr std::tuple of_memories{Figure{"capacity", &Memory::capacity, capacity},
                                          Group{"", &Memory::processor, of_processors}};

  static constexpr std::tuple of_columns{
      Figure{"column", &StridedEfficiency::Point::column, column},
      Figure{"pitch", &StridedEfficiency::Point::pitch, column, has_default},
      Figure{"efficiency", &StridedEfficiency::Point::efficiency, efficiency}};
  static constexpr std::tuple of_copies{
      Rows{"strided_efficiency", &StridedEfficiency::points, of_columns, false},
      Rows{"strided_efficiency_again", &StridedEfficiency::again, of_columns, false},
      Rows{"strided_efficiency_back", &StridedEfficiency::back, of_columns, false},
      Rows{"strided_efficiency_peer", &StridedEfficiency::peer, of_columns, false},
      Figure{"strided_beside", &StridedEfficiency::beside, factor, has_default,
             "strided_efficiency"},
      Figure{"strided_forgotten", &StridedEfficiency::forgotten, share_of_lines,
             has_default, "strided_efficiency"},
      Figure{"strided_border", &StridedEfficiency::border, column, has_default},
      Figure{"page_cache", &StridedEfficiency::cache, capacity, has_default}};

  static constexpr std::tuple of_graphs{
      Figure{"per_call", &GraphCost::per_call, latency},
      Figure{"per_copy", &GraphCost::per_copy, latency},
      Figure{"per_kernel", &GraphCost::per_kernel, latency},
      Figure{"per_dependency", &GraphCost::per_dependency, latency},
      Figure{"between_gpus", &GraphCost::between_gpus, latency, has_default}};
  static constexpr std::tuple of_issue{
      Figure{"per_op", &IssueCost::per_op, latency},
      Figure{"per_kernel", &IssueCost::per_kernel, latency},
      Figure{"per_dependency", &IssueCost::per_dependency, latency},
      Figure{"per_call", &IssueCost::per_call, latency, has_default},
      Figure{"hand_on", &IssueCost::hand_on, latency, has_default},
      Group{"graph", &IssueCost::graph, of_graphs}};

  static constexpr std::tuple of_kernel_uncertainty{
      Figure{"kernels", &Uncertainty::Kernels::measured_shapes, uncertainty},
      Figure{"other_shapes", &Uncertainty::Kernels::other_shapes, uncertainty,
             has_default}};
  static constexpr std::tuple of_uncertainty{
      Figure{"load", &Uncertainty::load, uncertainty, has_default},
      Figure{"copies", &Uncertainty::copies, uncertainty},
      Figure{"columns", &Uncertainty::columns, uncertainty, has_default},
      Figure{"issue", &Uncertainty::issue, uncertainty, has_default}};

  static constexpr std::tuple of_tiled_gemms{
      Figure{"peak", &TiledGemm::peak, flop_rate},
      Figure{"launch", &TiledGemm::launch, latency},
      Figure{"fill", &TiledGemm::fill, k_overhead},
      Figure{"reduction", &TiledGemm::reduction, latency},
      Rows{"blocks", &TiledGemm::blocks,
           std::tuple{Figure{"rows", &TiledGemm::Block::rows, block},
                      Figure{"columns", &TiledGemm::Block::cols, block},
                      Figure{"efficiency", &TiledGemm::Block::efficiency, efficiency}},
           false, needed},
      Rows{"side_by_side", &TiledGemm::fills,
           std::tuple{Figure{"side", &TiledGemm::Fill::side, gemm_size},
                      Figure{"share", &TiledGemm::Fill::share, efficiency}}},
      Rows{"in_graph", &TiledGemm::in_graph,
           std::tuple{Figure{"side", &TiledGemm::InGraph::side, gemm_size},
                      Figure{"gain", &TiledGemm::InGraph::gain, latency},
                      Figure{"share", &TiledGemm::InGraph::share, efficiency}}},
      Rows{"shapes", &TiledGemm::shapes,
           std::tuple{Figure{"m", &TiledGemm::Shape::m, gemm_extent},
                      Figure{"n", &TiledGemm::Shape::n, gemm_extent},
                      Figure{"k", &TiledGemm::Shape::k, gemm_extent},
                      Figure{"time", &TiledGemm::Shape::time, gemm_time},
                      Figure{"issue", &TiledGemm::Shape::issue, latency}},
           false}};
  /// Rates of squares s x s x s have three forms: time, rate, or share of `peak`.
  struct SquareTime {
    double size;
    Seconds time;
  };
  struct SquareShare {
    double size, share;
  };
  static constexpr Rows square{"square", self,
                               std::tuple{Figure{"size", &SquareTime::size, gemm_size},
                                          Figure{"time", &SquareTime::time, gemm_time}}};
  static constexpr Rows rates{
      "rates", &GemmCurve::points,
      std::tuple{Figure{"size", &GemmCurve::Point::size, gemm_size},
                 Figure{"rate", &GemmCurve::Point::rate, flop_rate}}};
  static constexpr Rows efficiency_of_peak{
      "efficiency", self,
      std::tuple{Figure{"size", &SquareShare::size, gemm_size},
                 Figure{"share", &SquareShare::share, efficiency}}};
  template <size_t kernel>
  static constexpr Rows of_tiles{tile_kernels[kernel],
                                 [](auto& curve) -> auto& {return curve.tiles[kernel];
}, std::tuple {
  Figure{"size", &GemmCurve::TileTime::size, gemm_size}, Figure {
    "time", &GemmCurve::TileTime::time, gemm_time
  }
}
};  // namespace tilerail
static constexpr std::tuple of_gemms{
    Group{"", &GemmCurve::tiled, of_tiled_gemms},
    Rows{"sustained", &GemmCurve::sustained,
         std::tuple{Figure{"duty", &GemmCurve::Load::duty, duty},
                    Figure{"factor", &GemmCurve::Load::factor, factor}}},
    Figure{"sustained_after", &GemmCurve::sustained_after, gemm_time, has_default,
           "sustained"},
    Figure{"sustained_at_first", &GemmCurve::sustained_at_first, duty, has_default,
           "sustained"},
    Figure{"sustained_fully_after", &GemmCurve::sustained_fully_after, gemm_time,
           has_default, "sustained_at_first"},
    Rows{"alignment", &GemmCurve::alignment,
         std::tuple{Figure{"bytes", &GemmCurve::Alignment::bytes, alignment},
                    Figure{"factor", &GemmCurve::Alignment::factor, factor}}},
    Figure{"watts", &GemmCurve::watts, gemm_watts},
    of_tiles<0>,
    of_tiles<1>,
    of_tiles<2>,
    of_tiles<3>,
    of_tiles<4>,
    of_tiles<5>,
    of_tiles<6>};
static constexpr std::tuple of_kernels{
    Figure{"launch", &KernelTimes::launch, latency},
    Figure{"regain", &KernelTimes::regain, latency, has_default},
    Figure{"multiprocessors", &KernelTimes::multiprocessors, multiprocessors},
    Rows{"block", self,
         std::tuple{Figure{"rows", &KernelTimes::block_m, block},
                    Figure{"columns", &KernelTimes::block_n, block}},
         false, needed},
    Figure{"k_overhead", &KernelTimes::k_overhead, k_overhead},
    Figure{"memory_bandwidth", &KernelTimes::memory_bandwidth, rate}};
}
;

template <class Figures, class Visit>
constexpr void for_each(const Figures& figures, const Visit& visit) {
  std::apply([&](const auto&... figure) { (visit(figure), ...); }, figures);
}

/// The content of a std::optional, the points of a curve, or the member itself.
template <class Member>
auto& content(Member& member) {
  if constexpr (requires { member.has_value(); })
    return content(*member);
  else if constexpr (requires { member.saturated(); })
    return member.points;
  else
    return member;
}

template <class Any>
constexpr bool is_needed(const Any& figure) {
  return figure.presence == Presence::needed;
}
template <class Value, class Part, class Quantity>
constexpr bool is_needed(const Figure<Value Part::*, Quantity>& figure) {
  constexpr bool may_be_absent = requires(Value value) { value.reset(); };
  return figure.presence == Presence::needed ||
         (figure.presence == Presence::by_type && !may_be_absent);
}

template <class Part, class Any>
bool is_there(const Part& part, const Any& figure) {
  const auto& member = std::invoke(figure.member, part);
  if constexpr (requires { member.has_value(); })
    return member.has_value();
  else if constexpr (requires { member.empty(); })
    return figure.presence == Presence::needed || !member.empty();
  else if constexpr (requires { figure.range; })
    return figure.presence != Presence::has_default ||
           member != std::invoke(figure.member, Part{});
  else
    return true;
}

/// Calls visit(figure, content) for each figure that the part has, in the order of files.
template <class Part, class Figures, class Visit>
void for_each_there(Part& part, const Figures& figures, const Visit& visit) {
  const auto has = [&](std::string_view key) {
    bool found = key.empty();
    for_each(figures, [&](const auto& figure) {
      found = found || (figure.key == key && is_there(part, figure));
    });
    return found;
  };
  for_each(figures, [&](const auto& figure) {
    if (has(figure.next_to) && is_there(part, figure))
      visit(figure, content(std::invoke(figure.member, part)));
  });
}

/// The keys of a table; `single`: only figures that a setting can change, such as
/// "engines.h2d".
template <class Figures>
std::vector<std::string> keys_of(const Figures& figures, bool single = false) {
  std::vector<std::string> keys;
  for_each(figures, [&](const auto& figure) {
    const std::string key{figure.key};
    if constexpr (requires { figure.figures; }) {
      if (single || key.empty())
        for (const std::string& inner : keys_of(figure.figures, single))
          keys.push_back(key.empty() ? inner : fmt::format("{}.{}", key, inner));
      else
        keys.push_back(key);
    } else if (!single || std::is_member_pointer_v<decltype(figure.member)>) {
      keys.push_back(key);
    }
  });
  return keys;
}

/// Calls change(figure, member) for the figure of a single key and returns its result;
/// false if the part lacks the figure.
template <class Part, class Figures, class Change>
bool change_at(Part& part, const Figures& figures, std::string_view key,
               const Change& change) {
  bool changed = false;
  for_each(figures, [&](const auto& figure) {
    auto& member = std::invoke(figure.member, part);
    if constexpr (requires { figure.figures; }) {
      const size_t prefix = figure.key.empty() ? 0 : figure.key.size() + 1;
      const bool inside = prefix == 0 || key.starts_with(std::string{figure.key} + ".");
      if (inside && is_there(part, figure) &&
          change_at(content(member), figure.figures, key.substr(prefix), change))
        changed = true;
    } else if (figure.key == key) {
      changed = change(figure, member);
    }
  });
  return changed;
}

}  // namespace tilerail
