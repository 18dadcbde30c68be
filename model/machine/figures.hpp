#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "model/base/topology_limits.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// When a table of a file has a figure.
enum class Presence : uint8_t {
  by_type,        // always, but a std::optional may be absent
  needed,         // always
  has_default,    // if it differs from the default of the part
  with_neighbour  // exactly if the figure `next_to` is there
};

/// A figure of a part of a machine: `key = value` in its table. Its unit follows from the type of the range.
template <class Member, class Quantity>
struct Figure {
  std::string_view key;
  Member member;  // of the part: a pointer, or a function that returns a reference
  const Range<Quantity>& range;
  std::string_view meaning = {};
  Presence presence = Presence::by_type;
  std::string_view next_to = {};  // the figure without which it has no meaning
};
// clang 14 deduces no arguments of aggregates by itself.
template <class Member, class Quantity, class... Rest>
Figure(std::string_view, Member, const Range<Quantity>&, Rest...) -> Figure<Member, Quantity>;

/// A list of rows: `key = [[column, column], ...]`. One column may be absent.
template <class Member, class Columns>
struct Rows {
  std::string_view key;
  Member member;
  Columns columns;
  std::string_view meaning;
  bool ascend = true;  // by the first column
  Presence presence = Presence::has_default;
  std::string_view next_to = {};
};
template <class Member, class Columns, class... Rest>
Rows(std::string_view, Member, Columns, Rest...) -> Rows<Member, Columns>;

/// Figures in a table of their own, `key = { ... }`, or, with an empty key, in the table of the part.
template <class Member, class Figures>
struct Group {
  std::string_view key;
  Member member;
  Figures figures;
  std::string_view meaning = {};
  Presence presence = Presence::has_default;
  std::string_view next_to = {};
};
template <class Member, class Figures, class... Rest>
Group(std::string_view, Member, Figures, Rest...) -> Group<Member, Figures>;

inline constexpr std::array<std::string_view, 4> trans_pairs{"NN", "NT", "TN", "TT"};
inline constexpr std::array<std::string_view, 4> source_kinds{"measured", "fitted", "published", "assumed"};

/// Every figure of a machine file: what it is called, where it is, what it may be and what it means. The reader, the
/// checker, the writer and the settings follow from it, and docs/formats.md#ranges lists it.
struct MachineFigures : TopologyLimits {
  using enum Presence;
  struct Self {
    template <class Part>
    Part& operator()(Part& part) const {
      return part;
    }
  };
  static constexpr Self self{};

  static constexpr std::tuple of_links{
      Figure{"bandwidth", &Link::bandwidth, rate, "of all copies in this direction"},
      Figure{"latency", &Link::latency, latency, "before the first byte of a copy arrives"},
      Figure{"per_flow", &Link::per_flow, rate, "largest rate of a single copy; absent: the bandwidth"}};

  static constexpr std::tuple of_curves{Figure{"copies", &CapacityCurve::Point::flows, copies},
                                        Figure{"rate", &CapacityCurve::Point::rate, rate}};
  static constexpr std::tuple of_groups{
      Rows{"capacity", &CapacityGroup::capacity, of_curves, "bound of the sum of all copies, by their number"},
      Rows{"both_busy", &CapacityGroup::both_busy, of_curves, "the same while forward and backward links are busy"},
      Figure{"forward_share", &CapacityGroup::forward_share, forward_share,
             "part of `both_busy` for forward copies if both sides want more"}};

  static constexpr std::tuple of_routes{
      Figure{"share", &Topology::Description::NamedRoute::share, share,
             "parts of a copy that take this route, of those of all routes of the pair", has_default}};

  static constexpr std::tuple of_engines{
      Figure{"h2d", &Engines::h2d, engines, "simultaneous copies into it from a host; absent: no limit, as below"},
      Figure{"d2h", &Engines::d2h, engines, "simultaneous copies out of it to a host"},
      Figure{"peer", &Engines::peer, engines, "simultaneous copies out of it to another GPU"},
      Figure{"total", &Engines::total, engines, "simultaneous copies and kernels"}};
  static constexpr std::tuple of_power{
      Figure{"idle", &Memory::idle_watts, watts, "power without kernels", needed},
      Figure{"busy", &Memory::busy_watts, watts, "power while kernels fill it all the time", needed}};
  static constexpr Figure of_device{"device", &Memory::device, device,
                                    "number of the GPU, as used on the command line"};
  static constexpr std::tuple of_memories{Figure{"capacity", &Memory::capacity, capacity, "absent: unbounded"},
                                          Group{"engines", &Memory::engines, of_engines},
                                          Group{"watts", self, of_power}};

  static constexpr std::tuple of_columns{Figure{"column", &StridedEfficiency::Point::column, column},
                                         Figure{"pitch", &StridedEfficiency::Point::pitch, column, "", has_default},
                                         Figure{"efficiency", &StridedEfficiency::Point::efficiency, efficiency}};
  static constexpr std::tuple of_copies{
      Rows{"strided_efficiency", &StridedEfficiency::points, of_columns, "rate over that of packed bytes", false},
      Rows{"strided_efficiency_again", &StridedEfficiency::again, of_columns, "of pages in a GPU's cache", false},
      Rows{"strided_efficiency_back", &StridedEfficiency::back, of_columns, "the same, GPU to host", false},
      Rows{"strided_efficiency_peer", &StridedEfficiency::peer, of_columns, "the same between GPUs", false},
      Figure{"strided_beside", &StridedEfficiency::beside, factor,
             "on the time of finding pages next to kernels and other copies", has_default, "strided_efficiency"},
      Figure{"strided_forgotten", &StridedEfficiency::forgotten, share_of_lines,
             "part of what columns know of each other's pages that kernels evict", has_default, "strided_efficiency"},
      Figure{"strided_border", &StridedEfficiency::border, column, "its multiples are compared with each other only",
             has_default},
      Figure{"page_cache", &StridedEfficiency::cache, capacity,
             "bytes that kernels use until the cache has forgotten pages", has_default}};

  static constexpr std::tuple of_graphs{
      Figure{"per_call", &GraphCost::per_call, latency, "once: launching the graph and waiting for its end"},
      Figure{"per_copy", &GraphCost::per_copy, latency, "host time for each copy between memories"},
      Figure{"per_kernel", &GraphCost::per_kernel, latency, "device time for each kernel"},
      Figure{"per_dependency", &GraphCost::per_dependency, latency, "for each dependency between streams"},
      Figure{"between_gpus", &GraphCost::between_gpus, latency,
             "from the end of an operation to a dependent start on another GPU", has_default}};
  static constexpr std::tuple of_issue{
      Figure{"per_op", &IssueCost::per_op, latency, "host time for submitting an operation"},
      Figure{"per_kernel", &IssueCost::per_kernel, latency, "the same for a kernel; absent: as `per_op`"},
      Figure{"per_dependency", &IssueCost::per_dependency, latency, "for each dependency on another queue"},
      Figure{"per_call", &IssueCost::per_call, latency, "once, before the first operation of each thread", has_default},
      Figure{"hand_on", &IssueCost::hand_on, latency,
             "event latency: from the end of a copy to the start of an operation that waits for it", has_default},
      Group{"graph", &IssueCost::graph, of_graphs}};

  static constexpr std::tuple of_kernel_uncertainty{
      Figure{"kernels", &Uncertainty::Kernels::measured_shapes, uncertainty, "of kernels of each data type"},
      Figure{"other_shapes", &Uncertainty::Kernels::other_shapes, uncertainty,
             "the same of shapes far from all in `shapes`", has_default}};
  static constexpr std::tuple of_uncertainty{
      Figure{"load", &Uncertainty::load, uncertainty, "of kernels where `sustained` counts", has_default},
      Figure{"copies", &Uncertainty::copies, uncertainty, "of copies"},
      Figure{"columns", &Uncertainty::columns, uncertainty, "of copies in two dimensions", has_default},
      Figure{"issue", &Uncertainty::issue, uncertainty, "of submitting operations", has_default}};

  static constexpr std::tuple of_tiled_gemms{
      Figure{"peak", &TiledGemm::peak, flop_rate, "of all multiprocessors"},
      Figure{"launch", &TiledGemm::launch, latency, "fixed time of a kernel"},
      Figure{"fill", &TiledGemm::fill, k_overhead, "pipeline fill of the k loop, in units of k"},
      Figure{"reduction", &TiledGemm::reduction, latency, "time of adding the parts of a split k"},
      Rows{"blocks", &TiledGemm::blocks,
           std::tuple{Figure{"rows", &TiledGemm::Block::rows, block}, Figure{"columns", &TiledGemm::Block::cols, block},
                      Figure{"efficiency", &TiledGemm::Block::efficiency, efficiency}},
           "thread blocks, with their share of the peak", false, needed},
      Rows{"side_by_side", &TiledGemm::fills,
           std::tuple{Figure{"side", &TiledGemm::Fill::side, gemm_size},
                      Figure{"share", &TiledGemm::Fill::share, efficiency}},
           "share of the device that s x s x s takes among others"},
      Rows{"in_graph", &TiledGemm::in_graph,
           std::tuple{Figure{"side", &TiledGemm::InGraph::side, gemm_size},
                      Figure{"gain", &TiledGemm::InGraph::gain, latency},
                      Figure{"share", &TiledGemm::InGraph::share, efficiency}},
           "how much shorter s x s x s is in a graph, and its share of the device there"},
      Rows{
          "shapes", &TiledGemm::shapes,
          std::tuple{Figure{"m", &TiledGemm::Shape::m, gemm_extent}, Figure{"n", &TiledGemm::Shape::n, gemm_extent},
                     Figure{"k", &TiledGemm::Shape::k, gemm_extent}, Figure{"time", &TiledGemm::Shape::time, gemm_time},
                     Figure{"issue", &TiledGemm::Shape::issue, latency}},
          "measured times of m x n x k, and of submitting it", false}};
  /// Rates of squares s x s x s are written in one of three forms: by time, by rate, or by share of `peak`.
  struct SquareTime {
    double size;
    Seconds time;
  };
  struct SquareShare {
    double size, share;
  };
  static constexpr Rows square{
      "square", self,
      std::tuple{Figure{"size", &SquareTime::size, gemm_size}, Figure{"time", &SquareTime::time, gemm_time}},
      "measured times of s x s x s by s"};
  static constexpr Rows rates{"rates", &GemmCurve::points,
                              std::tuple{Figure{"size", &GemmCurve::Point::size, gemm_size},
                                         Figure{"rate", &GemmCurve::Point::rate, flop_rate}},
                              "the same as rates, 2 s^3 / time"};
  static constexpr Rows efficiency_of_peak{
      "efficiency", self,
      std::tuple{Figure{"size", &SquareShare::size, gemm_size}, Figure{"share", &SquareShare::share, efficiency}},
      "the same as shares of `peak`"};
  static constexpr std::tuple of_gemms{
      Group{"", &GemmCurve::tiled, of_tiled_gemms},
      Rows{"sustained", &GemmCurve::sustained,
           std::tuple{Figure{"duty", &GemmCurve::Load::duty, duty}, Figure{"factor", &GemmCurve::Load::factor, factor}},
           "factor on times by the share of the time that the GPU computes"},
      Figure{"sustained_after", &GemmCurve::sustained_after, gemm_time,
             "how long a rested GPU computes before it is felt", has_default, "sustained"},
      Figure{"sustained_at_first", &GemmCurve::sustained_at_first, duty, "part of the rise that is felt at first",
             has_default, "sustained"},
      Figure{"sustained_fully_after", &GemmCurve::sustained_fully_after, gemm_time,
             "how long a rested GPU computes before it is felt in full", with_neighbour, "sustained_at_first"},
      Rows{"alignment", &GemmCurve::alignment,
           std::tuple{Figure{"bytes", &GemmCurve::Alignment::bytes, alignment},
                      Figure{"factor", &GemmCurve::Alignment::factor, factor}},
           "factor on times where columns are multiples of only so many bytes"},
      Figure{"watts", &GemmCurve::watts, gemm_watts, "power of a device that these kernels fill; absent: `busy`"}};
  static constexpr std::tuple of_kernels{
      Figure{"launch", &KernelTimes::launch, latency, "fixed time of any kernel"},
      Figure{"multiprocessors", &KernelTimes::multiprocessors, multiprocessors,
             "thread blocks that run simultaneously"},
      Rows{"block", self,
           std::tuple{Figure{"rows", &KernelTimes::block_m, block}, Figure{"columns", &KernelTimes::block_n, block}},
           "part of C that one thread block computes", false, needed},
      Figure{"k_overhead", &KernelTimes::k_overhead, k_overhead, "pipeline fill of the k loop, in units of k"},
      Figure{"memory_bandwidth", &KernelTimes::memory_bandwidth, rate, "of the device's memory"}};
};

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

template <class Figures, class Visit>
constexpr void for_each(const Figures& figures, const Visit& visit) {
  std::apply([&](const auto&... figure) { (visit(figure), ...); }, figures);
}

/// What a member holds: the content of a std::optional, the points of a curve, or itself.
template <class Member>
auto& content(Member& member) {
  if constexpr (requires { member.has_value(); })
    return content(*member);
  else if constexpr (requires {
                       member.points;
                       member.saturated();
                     })
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
  if (figure.presence == Presence::by_type) return !is_optional<Value>;
  return figure.presence == Presence::needed;
}

template <class Part, class Any>
bool is_there(const Part& part, const Any& figure) {
  const auto& member = std::invoke(figure.member, part);
  if constexpr (requires { member.has_value(); })
    return member.has_value();
  else if constexpr (requires { member.empty(); })
    return figure.presence == Presence::needed || !member.empty();
  else if constexpr (requires { figure.range; })
    return figure.presence != Presence::has_default || member != std::invoke(figure.member, Part{});
  else
    return true;
}

/// Calls visit(figure, content) for each figure that the part has, in the order of files.
template <class Part, class Figures, class Visit>
void for_each_there(Part& part, const Figures& figures, const Visit& visit) {
  const auto has = [&](std::string_view key) {
    bool found = key.empty();
    for_each(figures, [&](const auto& figure) { found = found || (figure.key == key && is_there(part, figure)); });
    return found;
  };
  for_each(figures, [&](const auto& figure) {
    if (has(figure.next_to) && is_there(part, figure)) visit(figure, content(std::invoke(figure.member, part)));
  });
}

/// The keys of a table; `single`: those of the figures that a setting can change, "engines.h2d".
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

/// Calls change(figure, member) for the figure of a single key and returns its result; false if the part lacks it.
template <class Part, class Figures, class Change>
bool change_at(Part& part, const Figures& figures, std::string_view key, const Change& change) {
  bool changed = false;
  for_each(figures, [&](const auto& figure) {
    auto& member = std::invoke(figure.member, part);
    if constexpr (requires { figure.figures; }) {
      if (key.starts_with(std::string{figure.key} + ".") && is_there(part, figure))
        changed = change_at(content(member), figure.figures, key.substr(figure.key.size() + 1), change);
    } else if (figure.key == key) {
      changed = change(figure, member);
    }
  });
  return changed;
}

}  // namespace tilerail
