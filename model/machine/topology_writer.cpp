#include "model/machine/topology_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "model/base/units_text.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {
namespace {

/// A TOML basic string.
std::string text(std::string_view value) {
  std::string result = "\"";
  for (char c : value) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      result += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

template <class Q>
std::string quantity(Q value) {
  return text(to_text(value));
}

/// "[a, b, c]", each item as `write` writes it.
template <class Items, class Write>
std::string list(const Items& items, Write write) {
  std::string result;
  for (const auto& item : items) result += (result.empty() ? "" : ", ") + write(item);
  return "[" + result + "]";
}

/// "[a, b]"
std::string point(const std::string& a, const std::string& b) { return fmt::format("[{}, {}]", a, b); }

/// The time of a square GEMM in the fewest digits from which the rate of `p` is read back; absent where no digits do.
std::optional<Seconds> square_time(const GemmCurve::Point& p) {
  const Flops flops{2 * p.size * p.size * p.size};
  for (int digits = 1; digits <= 17; ++digits) {
    std::array<char, 40> decimal;
    const auto end = std::to_chars(decimal.data(), decimal.data() + decimal.size(), (flops / p.rate).value,
                                   std::chars_format::general, digits)
                         .ptr;
    const Seconds time = parse_seconds(std::string{decimal.data(), end} + " s");
    if (flops / time == p.rate) return time;
  }
  return std::nullopt;
}

class Writer {
 public:
  explicit Writer(const Topology::Description& d) : d_{d} {}

  std::string machine() {
    line("schema", "1");
    line("name", text(d_.name));
    line("description", text(d_.description));
    table("[sources]");
    for (const Source& s : d_.sources) out_ += source_to_toml(s);
    for (const Memory& memory : d_.memories) write(memory);
    for (const Node& node : d_.nodes)
      if (node.kind == NodeKind::network_switch) {
        table("[[switch]]");
        line("name", text(node.name));
        source(node.source);
      }
    for (const Link& link : d_.links) write(link);
    names_ = link_names(d_.nodes, d_.links);
    for (const CapacityGroup& group : d_.groups) write(group);
    for (const auto& route : d_.routes) {
      table("[[route]]");
      line("from", text(d_.memories[route.from.index()].name));
      line("to", text(d_.memories[route.to.index()].name));
      line("links", link_list(route.links));
      if (route.share != 1) line("share", std::to_string(route.share));
      source(route.source);
    }
    return costs();
  }

  std::string costs() {
    write_costs();
    for (const KernelTimes& kernels : d_.kernels) write(kernels);
    return std::move(out_);
  }

 private:
  void table(const std::string& header) {
    where_ = header;
    out_ += "\n" + header + "\n";
  }
  void line(const std::string& key, const std::string& value) { out_ += fmt::format("{} = {}\n", key, value); }
  void source(const std::string& key) {
    if (std::none_of(d_.sources.begin(), d_.sources.end(), [&](const Source& s) { return s.key == key; }))
      throw InputError{fmt::format("{}: source {} is unknown; expected a key of the sources", where_, in_quotes(key))};
    line("source", text(key));
  }
  std::string link_list(const std::vector<LinkId>& links) const {
    return list(links, [this](LinkId link) { return text(names_[link.index()]); });
  }
  static std::string curve(const CapacityCurve& curve) {
    return list(curve.points, [](auto& p) { return point(shortest(p.flows), quantity(p.rate)); });
  }

  void write(const Memory& memory) {
    table("[[memory]]");
    line("name", text(memory.name));
    line("kind", memory.kind == NodeKind::host ? "\"host\"" : "\"gpu\"");
    if (memory.kind == NodeKind::gpu) {
      line("device", std::to_string(memory.device));
      line("kernels", text(d_.kernels[memory.kernels].name));
    }
    out_ += figures_to_toml(memory);
    source(memory.source);
  }

  void write(const Link& link) {
    table("[[link]]");
    line("from", text(d_.nodes[link.from.index()].name));
    line("to", text(d_.nodes[link.to.index()].name));
    line("bandwidth", quantity(link.bandwidth));
    line("latency", quantity(link.latency));
    if (link.per_flow) line("per_flow", quantity(*link.per_flow));
    source(link.source);
  }

  void write(const CapacityGroup& group) {
    table("[[group]]");
    line("name", text(group.name));
    line("forward", link_list(group.forward));
    if (!group.backward.empty()) line("backward", link_list(group.backward));
    if (group.capacity) line("capacity", curve(*group.capacity));
    if (group.both_busy) line("both_busy", curve(*group.both_busy));
    if (group.forward_share) line("forward_share", shortest(*group.forward_share));
    source(group.source);
  }

  void write_costs() {
    if (!d_.strided.points.empty() || d_.split_paths) {
      table("[copies]");
      if (d_.split_paths) line("multipath", text("split"));
      const auto points = [this](const char* key, const std::vector<StridedEfficiency::Point>& curve) {
        if (!curve.empty())
          line(key, list(curve, [](auto& p) {
                 const std::string pitch = p.pitch > Bytes{0} ? ", " + quantity(p.pitch) : "";
                 return point(quantity(p.column) + pitch, shortest(p.efficiency));
               }));
      };
      points("strided_efficiency", d_.strided.points);
      points("strided_efficiency_again", d_.strided.again);
      points("strided_efficiency_back", d_.strided.back);
      points("strided_efficiency_peer", d_.strided.peer);
      if (d_.strided.beside > 1) line("strided_beside", shortest(d_.strided.beside));
      if (d_.strided.forgotten > 0) line("strided_forgotten", shortest(d_.strided.forgotten));
      if (d_.strided.border > Bytes{0}) line("strided_border", quantity(d_.strided.border));
      if (d_.strided.cache > Bytes{0}) line("page_cache", quantity(d_.strided.cache));
      source(d_.strided.source);
    }
    const IssueCost& issue = d_.issue;
    if (issue.per_op > Seconds{0} || issue.per_dependency > Seconds{0} || issue.per_kernel ||
        issue.per_call > Seconds{0} || issue.hand_on > Seconds{0} || issue.graph) {
      table("[issue]");
      line("per_op", quantity(issue.per_op));
      if (issue.per_kernel) line("per_kernel", quantity(*issue.per_kernel));
      line("per_dependency", quantity(issue.per_dependency));
      if (issue.per_call > Seconds{0}) line("per_call", quantity(issue.per_call));
      if (issue.hand_on > Seconds{0}) line("hand_on", quantity(issue.hand_on));
      if (const auto& graph = issue.graph)
        line("graph",
             fmt::format("{{ per_call = {}, per_copy = {}, per_kernel = {}, per_dependency = {}{} }}",
                         quantity(graph->per_call), quantity(graph->per_copy), quantity(graph->per_kernel),
                         quantity(graph->per_dependency),
                         graph->between_gpus > Seconds{0} ? ", between_gpus = " + quantity(graph->between_gpus) : ""));
      source(issue.source);
    }
    if (d_.uncertainty) write(*d_.uncertainty);
  }

  void write(const Uncertainty& u) {
    table("[uncertainty]");
    const auto by_type = [&](double Uncertainty::Kernels::*half_width) {
      std::string entries;
      for (const Uncertainty::Kernels& k : u.kernels)
        entries += fmt::format("{}{} = {}", entries.empty() ? "" : ", ", to_string(k.dtype), shortest(k.*half_width));
      return fmt::format("{{ {} }}", entries);
    };
    line("kernels", by_type(&Uncertainty::Kernels::measured_shapes));
    if (std::ranges::any_of(u.kernels, [](auto& k) { return k.other_shapes != k.measured_shapes; }))
      line("other_shapes", by_type(&Uncertainty::Kernels::other_shapes));
    if (u.load > 0) line("load", shortest(u.load));
    line("copies", shortest(u.copies));
    if (u.columns > 0) line("columns", shortest(u.columns));
    if (u.issue > 0) line("issue", shortest(u.issue));
    source(u.source);
  }

  void write(const KernelTimes& kernels) {
    table("[kernels." + text(kernels.name) + "]");
    line("launch", quantity(kernels.launch));
    line("multiprocessors", shortest(kernels.multiprocessors));
    line("block", point(shortest(kernels.block_m), shortest(kernels.block_n)));
    line("k_overhead", shortest(kernels.k_overhead));
    if (kernels.memory_bandwidth) line("memory_bandwidth", quantity(*kernels.memory_bandwidth));
    source(kernels.source);
    for (const GemmCurve& gemm : kernels.gemm) {
      table("[[kernels." + text(kernels.name) + ".gemm]]");
      line("dtype", text(to_string(gemm.dtype)));
      if (!gemm.trans.empty()) line("trans", text(gemm.trans));
      if (gemm.tiled) write(*gemm.tiled);
      if (!gemm.sustained.empty())
        line("sustained", list(gemm.sustained, [](auto& l) { return point(shortest(l.duty), shortest(l.factor)); }));
      if (gemm.sustained_after > Seconds{0}) line("sustained_after", quantity(gemm.sustained_after));
      if (gemm.sustained_at_first < 1) {
        line("sustained_at_first", shortest(gemm.sustained_at_first));
        line("sustained_fully_after", quantity(gemm.sustained_fully_after));
      }
      if (!gemm.alignment.empty())
        line("alignment", list(gemm.alignment, [](auto& p) { return point(shortest(p.bytes), shortest(p.factor)); }));
      if (gemm.watts) line("watts", quantity(*gemm.watts));
      if (!gemm.tiled) write_points(gemm);
      source(gemm.source);
    }
  }

  void write_points(const GemmCurve& gemm) {
    const bool timed = std::all_of(gemm.points.begin(), gemm.points.end(), square_time);
    line(timed ? "square" : "rates", list(gemm.points, [timed](auto& p) {
           return point(shortest(p.size), timed ? quantity(*square_time(p)) : quantity(p.rate));
         }));
  }

  void write(const TiledGemm& tiled) {
    line("peak", quantity(tiled.peak));
    line("launch", quantity(tiled.launch));
    line("fill", shortest(tiled.fill));
    line("reduction", quantity(tiled.reduction));
    line("blocks", list(tiled.blocks, [](auto& b) {
           return point(shortest(b.rows) + ", " + shortest(b.cols), shortest(b.efficiency));
         }));
    if (!tiled.fills.empty())
      line("side_by_side", list(tiled.fills, [](auto& f) { return point(shortest(f.side), shortest(f.share)); }));
    if (!tiled.in_graph.empty())
      line("in_graph", list(tiled.in_graph, [](auto& g) {
             return point(shortest(g.side) + ", " + quantity(g.gain), shortest(g.share));
           }));
    if (tiled.shapes.empty()) return;
    line("shapes", list(tiled.shapes, [](auto& s) {
           const std::string times = s.issue ? quantity(s.time) + ", " + quantity(*s.issue) : quantity(s.time);
           return point(fmt::format("{}, {}, {}", shortest(s.m), shortest(s.n), shortest(s.k)), times);
         }));
  }

  const Topology::Description& d_;
  std::vector<std::string> names_;  // of the links
  std::string where_, out_;
};

}  // namespace

std::string source_to_toml(const Source& source) {
  constexpr const char* kinds[] = {"measured", "fitted", "published", "assumed"};
  return fmt::format("{} = {{ kind = \"{}\", text = {} }}\n", text(source.key), kinds[static_cast<int>(source.kind)],
                     text(source.text));
}

std::string figures_to_toml(const Memory& memory) {
  std::string lines, engines;
  if (memory.capacity) lines += fmt::format("capacity = {}\n", quantity(*memory.capacity));
  const auto count = [&](const char* role, const std::optional<int>& value) {
    if (value) engines += fmt::format("{}{} = {}", engines.empty() ? "" : ", ", role, *value);
  };
  count("h2d", memory.engines.h2d);
  count("d2h", memory.engines.d2h);
  count("peer", memory.engines.peer);
  count("total", memory.engines.total);
  if (!engines.empty()) lines += fmt::format("engines = {{ {} }}\n", engines);
  if (memory.idle_watts && memory.busy_watts)
    lines +=
        fmt::format("watts = {{ idle = {}, busy = {} }}\n", quantity(*memory.idle_watts), quantity(*memory.busy_watts));
  return lines;
}

std::string toml_text(std::string_view value) { return text(value); }

std::string costs_to_toml(const Topology::Description& description) { return Writer{description}.costs(); }

std::string to_toml(const Topology::Description& description) { return Writer{description}.machine(); }

}  // namespace tilerail
