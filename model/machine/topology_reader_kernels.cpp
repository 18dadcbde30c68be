#include "model/machine/topology_reader.hpp"

#include <fmt/format.h>

namespace tilerail {
namespace {

constexpr const char* larger_size = "a larger size";

void read_efficiency(const TomlTable& table, GemmCurve& curve) {
  const FlopRate peak = table.need("peak").flop_rate(TopologyLimits::flop_rate);
  each_ascending(table.need("efficiency"), TopologyLimits::gemm_size, larger_size,
                 [&](double size, const TomlValue& efficiency) {
                   curve.points.push_back({size, peak * efficiency.number(TopologyLimits::efficiency)});
                 });
}

/// A list of exactly `count` values; `what` says in the error what was expected.
std::vector<TomlValue> values_of(const TomlValue& value, std::size_t count, const char* what) {
  auto values = value.list(count + 1);
  if (values.size() != count) value.fail(std::string{"has another length; expected "} + what);
  return values;
}

void read_side_by_side(const TomlValue& value, TiledGemm& tiled) {
  each_ascending(value, TopologyLimits::gemm_size, larger_size, [&](double side, const TomlValue& share) {
    tiled.fills.push_back({side, share.number(TopologyLimits::efficiency)});
  });
}

void read_in_graph(const TomlValue& value, TiledGemm& tiled) {
  for (const TomlValue& entry : value.list(TopologyLimits::points)) {
    const auto parts = values_of(entry, 3, "[side, gain, share]");
    tiled.in_graph.push_back({parts[0].number(TopologyLimits::gemm_size), parts[1].seconds(TopologyLimits::latency),
                              parts[2].number(TopologyLimits::efficiency)});
    if (tiled.in_graph.size() > 1 && tiled.in_graph.back().side <= tiled.in_graph[tiled.in_graph.size() - 2].side)
      parts[0].report("is not above the side before it; expected a larger side");
  }
}

void read_tiled(const TomlTable& table, GemmCurve& curve) {
  TiledGemm tiled;
  tiled.peak = table.need("peak").flop_rate(TopologyLimits::flop_rate);
  tiled.launch = table.need("launch").seconds(TopologyLimits::latency);
  tiled.fill = table.need("fill").number(TopologyLimits::k_overhead);
  tiled.reduction = table.need("reduction").seconds(TopologyLimits::latency);
  for (const TomlValue& block : table.need("blocks").list(TopologyLimits::points)) {
    const auto parts = values_of(block, 3, "[rows, columns, efficiency]");
    tiled.blocks.push_back({parts[0].number(TopologyLimits::block), parts[1].number(TopologyLimits::block),
                            parts[2].number(TopologyLimits::efficiency)});
  }
  if (tiled.blocks.empty()) table.need("blocks").report("is empty; expected at least one block");
  if (const auto shapes = table.find("shapes"))
    for (const TomlValue& shape : shapes->list(TopologyLimits::points)) {
      const auto parts = shape.list(6);
      if (parts.size() != 4 && parts.size() != 5)
        shape.fail("has another length; expected [m, n, k, time] or [m, n, k, time, issue]");
      const auto size = [&](std::size_t i) {
        return static_cast<double>(parts[i].integer(1, static_cast<std::int64_t>(TopologyLimits::gemm_size.most)));
      };
      tiled.shapes.push_back({size(0), size(1), size(2), parts[3].seconds(TopologyLimits::gemm_time)});
      if (parts.size() == 5) tiled.shapes.back().issue = parts[4].seconds(TopologyLimits::latency);
    }
  if (const auto fills = table.find("side_by_side")) read_side_by_side(*fills, tiled);
  if (const auto graph = table.find("in_graph")) read_in_graph(*graph, tiled);
  curve.tiled = std::move(tiled);
}

void read_sustained(const TomlValue& value, GemmCurve& curve) {
  each_ascending(value, TopologyLimits::duty, "a larger share", [&](double duty, const TomlValue& factor) {
    curve.sustained.push_back({duty, factor.number(TopologyLimits::factor)});
  });
}

void read_points(const TomlTable& table, GemmCurve& curve) {
  if (const auto square = table.find("square"))
    each_ascending(*square, TopologyLimits::gemm_size, larger_size, [&](double size, const TomlValue& time) {
      curve.points.push_back({size, Flops{2 * size * size * size} / time.seconds(TopologyLimits::gemm_time)});
    });
  if (const auto rates = table.find("rates"))
    each_ascending(*rates, TopologyLimits::gemm_size, larger_size, [&](double size, const TomlValue& rate) {
      curve.points.push_back({size, rate.flop_rate(TopologyLimits::flop_rate)});
    });
}

void read_trans(const TomlTable& table, GemmCurve& curve) {
  if (const auto trans = table.find("trans")) {
    curve.trans = trans->text();
    if (curve.trans != "NN" && curve.trans != "NT" && curve.trans != "TN" && curve.trans != "TT")
      trans->report("is unknown; expected NN, NT, TN or TT");
  }
}

void read_load(const TomlTable& table, GemmCurve& curve) {
  if (const auto sustained = table.find("sustained")) read_sustained(*sustained, curve);
  if (const auto after = table.find("sustained_after")) {
    if (curve.sustained.empty()) after->report("has no meaning here; expected it next to 'sustained'");
    curve.sustained_after = after->seconds(TopologyLimits::gemm_time);
  }
  if (const auto part = table.find("sustained_at_first")) {
    if (curve.sustained.empty()) part->report("has no meaning here; expected it next to 'sustained'");
    curve.sustained_at_first = part->number(TopologyLimits::duty);
    curve.sustained_fully_after = table.need("sustained_fully_after").seconds(TopologyLimits::gemm_time);
  } else if (const auto fully = table.find("sustained_fully_after")) {
    fully->report("has no meaning here; expected it next to 'sustained_at_first'");
  }
}

void read_alignment(const TomlValue& value, GemmCurve& curve) {
  each_ascending(value, TopologyLimits::alignment, "more bytes", [&](double bytes, const TomlValue& factor) {
    curve.alignment.push_back({bytes, factor.number(TopologyLimits::factor)});
  });
}

}  // namespace

GemmCurve TopologyReader::read_gemm(TomlTable& table) {
  table.allow_only({"dtype",
                    "trans",
                    "square",
                    "rates",
                    "peak",
                    "efficiency",
                    "launch",
                    "fill",
                    "reduction",
                    "blocks",
                    "shapes",
                    "side_by_side",
                    "in_graph",
                    "sustained",
                    "sustained_after",
                    "sustained_at_first",
                    "sustained_fully_after",
                    "alignment",
                    "watts",
                    "source"});
  GemmCurve curve;
  const TomlValue dtype = table.need("dtype");
  try {
    curve.dtype = dtype_from_string(dtype.text(), "dtype");
  } catch (const InputError&) {
    dtype.report("is unknown; expected f64, f32, f16, bf16 or tf32");
  }
  read_trans(table, curve);
  const auto square = table.find("square"), rates = table.find("rates"), peak = table.find("peak");
  if (int{square.has_value()} + int{rates.has_value()} + int{peak.has_value()} != 1)
    table.fail("expected exactly one of 'square', 'rates' and 'peak' with 'efficiency' or 'blocks'");
  const bool tiled = peak && table.find("blocks");
  if ((!peak || tiled) && table.find("efficiency"))
    table.need("efficiency").report("has no meaning here; expected it next to 'peak' and without 'blocks'");
  for (const char* key : {"blocks", "shapes", "side_by_side", "in_graph", "launch", "fill", "reduction"})
    if (!tiled && table.find(key))
      table.need(key).report("has no meaning here; expected it next to 'peak' and 'blocks'");

  if (tiled) read_tiled(table, curve);
  if (peak && !tiled) read_efficiency(table, curve);
  read_load(table, curve);
  if (const auto alignment = table.find("alignment")) read_alignment(*alignment, curve);
  if (const auto watts = table.find("watts")) curve.watts = watts->watts(TopologyLimits::gemm_watts);
  read_points(table, curve);
  if (!tiled && curve.points.empty()) table.report("has no points; expected at least one");
  curve.source = source_of(table);
  return curve;
}

void TopologyReader::read_kernels(const std::string& name, const TomlTable& table) {
  table.allow_only({"launch", "multiprocessors", "block", "k_overhead", "memory_bandwidth", "source", "gemm"});
  KernelTimes kernels;
  kernels.name = name;
  kernels.launch = table.need("launch").seconds(TopologyLimits::latency);
  kernels.multiprocessors = table.need("multiprocessors").number(TopologyLimits::multiprocessors);
  const auto block = table.need("block").pair();
  kernels.block_m = block[0].number(TopologyLimits::block);
  kernels.block_n = block[1].number(TopologyLimits::block);
  kernels.k_overhead = table.need("k_overhead").number(TopologyLimits::k_overhead);
  if (const auto bandwidth = table.find("memory_bandwidth"))
    kernels.memory_bandwidth = bandwidth->rate(TopologyLimits::rate);
  kernels.source = source_of(table);
  if (const auto gemm = table.find("gemm"))
    for (TomlTable& curve : gemm->tables("kernels." + name + ".gemm"))
      collecting(errors_, [&] {
        kernels.gemm.push_back(read_gemm(curve));
        if (kernels.gemm.back().tiled && !kernels.memory_bandwidth)
          curve.report(fmt::format("has 'blocks'; expected 'memory_bandwidth' in [kernels.{}]", name));
      });
  d_.kernels.push_back(kernels);
  places_[TopologyDefect::Table::kernels].push_back(table.place());
}

}  // namespace tilerail
