#include "model/machine/simgrid_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "model/base/error.hpp"
#include "model/base/units_text.hpp"

namespace tilerail {
namespace {

constexpr std::size_t most_memories = 256;  // 65,280 routes

/// As the value of an attribute.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

std::string link_line(const std::string& id, Rate rate, Seconds latency, const char* sharing) {
  return fmt::format("    <link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{}s\" sharing_policy=\"{}\"/>\n", escaped(id),
                     shortest(rate.value), shortest(latency.value), sharing);
}

std::string cap_name(Rate rate) { return fmt::format("cap {}", shortest(rate.value)); }

Rate largest(const CapacityCurve& curve) {
  Rate rate{0};
  for (const auto& point : curve.points) rate = std::max(rate, point.rate);
  return rate;
}

class Writer {
 public:
  explicit Writer(const Topology& topology) : t_{topology} {}

  std::string platform() {
    std::string text =
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        "<!-- A copy alone takes its latency, and its bytes over the least rate on its way. Groups bound sums by the\n"
        "     largest rate of their capacity; bounds by the number of copies and of both directions are left out. -->\n"
        "<platform version=\"4.1\">\n  <config>\n";
    for (const auto& [key, value] : {std::pair{"network/model", "CM02"}, std::pair{"network/TCP-gamma", "-1"},
                                     std::pair{"network/crosstraffic", "0"}, std::pair{"surf/precision", "1e-9"}})
      text += fmt::format("    <prop id=\"{}\" value=\"{}\"/>\n", key, value);
    text += fmt::format("  </config>\n  <zone id=\"{}\" routing=\"Full\">\n", escaped(t_.name()));
    for (const Memory& memory : t_.memories())
      text += fmt::format("    <host id=\"{}\" speed=\"1f\"/>\n", escaped(memory.name));
    const std::string routes = all_routes();
    return text + links() + routes + "  </zone>\n</platform>\n";
  }

 private:
  std::string links() const {
    std::string text;
    for (const Link& link : t_.links()) text += link_line("link " + link.name, link.bandwidth, link.latency, "SHARED");
    for (const CapacityGroup& group : t_.groups())
      if (group.capacity) text += link_line("group " + group.name, largest(*group.capacity), Seconds{0}, "SHARED");
    for (const Rate cap : caps_) text += link_line(cap_name(cap), cap, Seconds{0}, "FATPIPE");
    return text;
  }

  std::string all_routes() {
    std::string text;
    for (std::size_t s = 0; s < t_.memories().size(); ++s)
      for (std::size_t d = 0; d < t_.memories().size(); ++d)
        if (s != d && t_.has_route(MemoryId{s}, MemoryId{d})) text += route(MemoryId{s}, MemoryId{d});
    return text;
  }

  /// A link that bounds each copy alone stands for what bounds one copy but not their sum.
  std::string route(MemoryId src, MemoryId dst) {
    std::string text = fmt::format("    <route src=\"{}\" dst=\"{}\" symmetrical=\"NO\">\n",
                                   escaped(t_.memory(src).name), escaped(t_.memory(dst).name));
    Rate narrowest{std::numeric_limits<double>::infinity()};
    const auto add = [&](const std::string& id) { text += fmt::format("      <link_ctn id=\"{}\"/>\n", escaped(id)); };
    for (const LinkId id : t_.route(src, dst)) {
      add("link " + t_.link(id).name);
      narrowest = std::min(narrowest, t_.link(id).bandwidth);
    }
    for (const auto& use : t_.groups_on(src, dst)) {
      const CapacityGroup& group = t_.group(use.group);
      if (!group.capacity) continue;
      add("group " + group.name);
      narrowest = std::min(narrowest, largest(*group.capacity));
    }
    const Rate alone = t_.pair_rate(src, dst);
    if (alone < narrowest) {
      caps_.insert(alone);
      add(cap_name(alone));
    }
    return text + "    </route>\n";
  }

  const Topology& t_;
  std::set<Rate> caps_;
};

}  // namespace

std::string to_simgrid_xml(const Topology& topology) {
  if (topology.memories().size() > most_memories)
    throw InputError{fmt::format("{}: {} memories; expected at most {}, since the file has a route for each pair",
                                 topology.name(), topology.memories().size(), most_memories)};
  return Writer{topology}.platform();
}

}  // namespace tilerail
