#include "model/machine/topology_writer.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "model/base/digest.hpp"
#include "model/base/units_text.hpp"
#include "model/machine/figures.hpp"
#include "model/machine/topology_check.hpp"

namespace tilerail {

/// Quotes and escapes a TOML basic string.
std::string toml_text(std::string_view value) {
  std::string result = "\"";
  for (const char c : value) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') result += '\\';
    if (code < 0x20 || code == 0x7f)
      result += fmt::format("\\u{:04X}", code);
    else
      result += c;
  }
  return result + "\"";
}

namespace {

using F = MachineFigures;

std::string value_text(double value) { return shortest(value); }
std::string value_text(int value) { return std::to_string(value); }
template <class Dimension>
std::string value_text(Quantity<Dimension> value) {
  return toml_text(to_text(value));
}

/// "[a, b, c]", each item written with `write`.
template <class Items, class Write>
std::string list(const Items& items, const Write& write) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.push_back(write(item));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

struct KeyValue {
  std::string_view key;
  std::string text;
};
using KeyValues = std::vector<KeyValue>;

template <class Part, class Figures>
KeyValues key_values(const Part& part, const Figures& figures) {
  KeyValues all;
  for_each_there(part, figures,
                 [&](const auto& figure, const auto& value) { add(all, figure, value); });
  return all;
}

template <class Row, class Columns>
std::string row_text(const Row& row, const Columns& columns) {
  return list(key_values(row, columns), [](const auto& each) { return each.text; });
}

template <class Member, class Quantity, class Value>
void add(KeyValues& all, const Figure<Member, Quantity>& figure, const Value& value) {
  all.push_back({figure.key, value_text(value)});
}

template <class Member, class Columns, class Value>
void add(KeyValues& all, const Rows<Member, Columns>& rows, const Value& value) {
  if constexpr (requires { value.front(); })
    all.push_back({rows.key, list(value, [&](const auto& row) {
                     return row_text(row, rows.columns);
                   })});
  else
    all.push_back({rows.key, row_text(value, rows.columns)});
}

/// Writes a separate table only if it has all required figures.
template <class Member, class Figures, class Value>
void add(KeyValues& all, const Group<Member, Figures>& group, const Value& value) {
  KeyValues inner = key_values(value, group.figures);
  if (group.key.empty()) return std::ranges::move(inner, std::back_inserter(all)), void();
  bool complete = !inner.empty();
  for_each(group.figures, [&](const auto& figure) {
    complete = complete && (!is_needed(figure) || is_there(value, figure));
  });
  std::vector<std::string> texts;
  for (const auto& [key, text] : inner)
    texts.push_back(fmt::format("{} = {}", key, text));
  if (complete)
    all.push_back({group.key, fmt::format("{{ {} }}", fmt::join(texts, ", "))});
}

/// The time of a square GEMM with the fewest digits that give exactly the rate of `p`;
/// absent if none do.
std::optional<Seconds> square_time(const GemmCurve::Point& p) {
  const Flops flops{2 * p.size * p.size * p.size};
  for (int digits = 1; digits <= 17; ++digits) {
    const Seconds time =
        parse_seconds(fmt::format("{:.{}g} s", (flops / p.rate).value, digits));
    if (flops / time == p.rate) return time;
  }
  return std::nullopt;
}

class TomlWriter {
 public:
  explicit TomlWriter(Topology::Description d) : d_{std::move(d)} {}

  std::string machine() {
    line("schema", "1");
    line("name", toml_text(d_.name));
    line("description", toml_text(d_.description));
    table("[sources]");
    for (const Source& source : d_.sources) out_ += source_to_toml(source);
    for (const Memory& memory : d_.memories) write(memory);
    for (const Vertex& vertex : d_.vertices)
      if (vertex.kind == VertexKind::network_switch) {
        table("[[switch]]");
        line("name", toml_text(vertex.name));
        source(vertex.source);
      }
    for (const Node& node : d_.nodes) write(node);
    for (const Link& link : d_.links) {
      ends("[[link]]", d_.vertices[link.from.index()], d_.vertices[link.to.index()]);
      lines_and_source(link, F::of_links);
    }
    name_links(d_);
    for (const CapacityGroup& group : d_.groups) write(group);
    for (const auto& route : d_.routes) {
      ends("[[route]]", d_.memories[route.from.index()], d_.memories[route.to.index()]);
      line("links", link_list(route.links));
      lines_and_source(route, F::of_routes);
    }
    return costs();
  }

  std::string costs() {
    const bool is_issue =
        d_.issue.per_op > Seconds{0} || d_.issue.per_dependency > Seconds{0} ||
        key_values(d_.issue, F::of_issue).size() > 2;  // two figures are always written
    if (!d_.strided.points.empty() || d_.split_paths) {
      table("[copies]");
      if (d_.split_paths) line("multipath", toml_text("split"));
      lines_and_source(d_.strided, F::of_copies);
    }
    if (is_issue) {
      table("[issue]");
      lines_and_source(d_.issue, F::of_issue);
    }
    if (d_.uncertainty) write(*d_.uncertainty);
    for (const KernelTimes& kernels : d_.kernels) write(kernels);
    return std::move(out_);
  }

 private:
  void table(const std::string& header) {
    where_ = header;
    out_ += "\n" + header + "\n";
  }
  void line(std::string_view key, std::string_view value) {
    out_ += fmt::format("{} = {}\n", key, value);
  }
  void source(const std::string& key) {
    if (std::ranges::find(d_.sources, key, &Source::key) == d_.sources.end())
      throw InputError{"source", key, "is unknown", "a key of the sources", where_};
    line("source", toml_text(key));
  }
  template <class Part, class Figures>
  void lines(const Part& part, const Figures& figures) {
    for (const auto& [key, value] : key_values(part, figures)) line(key, value);
  }
  template <class Part, class Figures>
  void lines_and_source(const Part& part, const Figures& figures) {
    lines(part, figures);
    source(part.source);
  }
  template <class End>
  void ends(const char* header, const End& from, const End& to) {
    table(header);
    line("from", toml_text(from.name));
    line("to", toml_text(to.name));
  }
  std::string link_list(const std::vector<LinkId>& links) const {
    return list(links,
                [this](LinkId link) { return toml_text(d_.links[link.index()].name); });
  }

  void write(const Node& node) {
    table("[[node]]");
    line("name", toml_text(node.name));
    line("memories", list(node.memories, [this](MemoryId id) {
           return toml_text(d_.memories[id.index()].name);
         }));
    if (!node.nics.empty())
      line("nics", list(node.nics, [this](VertexId id) {
             return toml_text(d_.vertices[id.index()].name);
           }));
    source(node.source);
  }

  void write(const Memory& memory) {
    table("[[memory]]");
    line("name", toml_text(memory.name));
    line("kind", memory.kind == VertexKind::host ? "\"host\"" : "\"gpu\"");
    if (memory.kind == VertexKind::gpu)
      line("device", std::to_string(memory.processor->device));
    if (memory.processor)
      line("kernels", toml_text(d_.kernels[memory.processor->kernels].name));
    lines_and_source(memory, F::of_memories);
  }

  void write(const CapacityGroup& group) {
    table("[[group]]");
    line("name", toml_text(group.name));
    line("forward", link_list(group.forward));
    if (!group.backward.empty()) line("backward", link_list(group.backward));
    lines_and_source(group, F::of_groups);
  }

  void write(const Uncertainty& u) {
    table("[uncertainty]");
    for_each(F::of_kernel_uncertainty, [&](const auto& figure) {
      std::vector<std::string> texts;
      bool differ = is_needed(figure);
      for (const Uncertainty::Kernels& k : u.kernels) {
        texts.push_back(
            fmt::format("{} = {}", to_string(k.dtype), shortest(k.*figure.member)));
        differ = differ || k.*figure.member != k.measured_shapes;
      }
      if (differ) line(figure.key, fmt::format("{{ {} }}", fmt::join(texts, ", ")));
    });
    lines_and_source(u, F::of_uncertainty);
  }

  void write(const KernelTimes& kernels) {
    const std::string name = toml_text(kernels.name);
    table(fmt::format("[kernels.{}]", name));
    lines_and_source(kernels, F::of_kernels);
    for (const GemmCurve& gemm : kernels.gemm) {
      table(fmt::format("[[kernels.{}.gemm]]", name));
      line("dtype", toml_text(to_string(gemm.dtype)));
      if (!gemm.trans.empty()) line("trans", toml_text(gemm.trans));
      lines(gemm, F::of_gemms);
      if (!gemm.tiled) write_points(gemm);
      source(gemm.source);
    }
  }

  void write_points(const GemmCurve& gemm) {
    const bool timed = std::ranges::all_of(
        gemm.points, [](const auto& p) { return square_time(p).has_value(); });
    line(timed ? "square" : "rates", list(gemm.points, [timed](auto& p) {
           return fmt::format("[{}, {}]", shortest(p.size),
                              timed ? value_text(*square_time(p)) : value_text(p.rate));
         }));
  }

  Topology::Description d_;
  std::string where_, out_;
};

}  // namespace

std::string source_to_toml(const Source& source) {
  return fmt::format("{} = {{ kind = \"{}\", text = {} }}\n", toml_text(source.key),
                     source_kinds[size_t(source.kind)], toml_text(source.text));
}

std::string figures_to_toml(const Memory& memory) {
  std::string lines;
  for (const auto& [key, value] : key_values(memory, F::of_memories))
    lines += fmt::format("{} = {}\n", key, value);
  return lines;
}

std::string costs_to_toml(const Topology::Description& description) {
  return TomlWriter{description}.costs();
}

std::string to_toml(const Topology::Description& description) {
  return TomlWriter{description}.machine();
}

std::string machine_hash(const Topology& machine) {
  return digest_text(to_toml(machine.description()));
}

}  // namespace tilerail
