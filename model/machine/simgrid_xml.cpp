#include "model/machine/simgrid_xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "model/base/error.hpp"
#include "model/base/markup.hpp"
#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"

namespace tilerail {
namespace {

constexpr size_t most_memories = 256;  // 65,280 routes

std::string link_line(const std::string& id, Rate rate, Seconds latency,
                      const char* sharing) {
  return fmt::format(
      "    <link id=\"{}\" bandwidth=\"{}Bps\" latency=\"{}s\" sharing_policy=\"{}\"/>\n",
      xml_text(id), shortest(rate.value), shortest(latency.value), sharing);
}

std::string cap_name(Rate rate) { return fmt::format("cap {}", shortest(rate.value)); }

std::string latency_name(Seconds latency) {
  return fmt::format("latency {}", shortest(latency.value));
}

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
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM "
        "\"https://simgrid.org/simgrid.dtd\">\n"
        "<!-- A copy alone takes its latency, and its bytes over the least rate on its "
        "way. Groups bound sums by the\n"
        "     largest rate of their capacity; bounds by the number of copies and of both "
        "directions are left out. "
        "Where\n"
        "     copies are split over several ways, a route lists a link once for each "
        "part of the bytes that crosses "
        "it,\n"
        "     and links are as many times as wide as copies have parts. -->\n"
        "<platform version=\"4.1\">\n  <config>\n";
    for (const auto& [key, value] :
         {std::pair{"network/model", "CM02"}, std::pair{"network/TCP-gamma", "-1"},
          std::pair{"network/crosstraffic", "0"}, std::pair{"surf/precision", "1e-9"}})
      text += fmt::format("    <prop id=\"{}\" value=\"{}\"/>\n", key, value);
    text += fmt::format("  </config>\n  <zone id=\"{}\" routing=\"Full\">\n",
                        xml_text(t_.name()));
    for (const Memory& memory : t_.description().memories)
      text += fmt::format("    <host id=\"{}\" speed=\"1f\"/>\n", xml_text(memory.name));
    set_unit();
    const std::string routes = all_routes();
    return text + links() + routes + "  </zone>\n</platform>\n";
  }

 private:
  std::string links() const {
    std::string text;
    for (const Link& link : t_.links())
      text += link_line("link " + link.name, link.bandwidth * unit_,
                        unit_ > 1 ? Seconds{0} : link.latency, "SHARED");
    for (const CapacityGroup& group : t_.groups())
      if (group.capacity)
        text += link_line("group " + group.name, largest(*group.capacity) * unit_,
                          Seconds{0}, "SHARED");
    for (const Rate cap : caps_)
      text += link_line(cap_name(cap), cap, Seconds{0}, "FATPIPE");
    for (const Seconds latency : latencies_)
      text +=
          link_line(latency_name(latency), TopologyLimits::rate.most, latency, "FATPIPE");
    return text;
  }

  /// Sets the unit of parts: a common multiple of the parts of every pair.
  void set_unit() {
    const size_t memories = t_.description().memories.size();
    for (size_t s = 0; s < memories; ++s)
      for (size_t d = 0; d < memories; ++d)
        unit_ = std::lcm(unit_, t_.parts(MemoryId{s}, MemoryId{d}));
  }

  std::string all_routes() {
    std::string text;
    const size_t memories = t_.description().memories.size();
    for (size_t s = 0; s < memories; ++s)
      for (size_t d = 0; d < memories; ++d)
        if (s != d && t_.has_route(MemoryId{s}, MemoryId{d}))
          text += route(MemoryId{s}, MemoryId{d});
    return text;
  }

  /// A FATPIPE link represents limits of a single copy that do not limit the sum of
  /// copies.
  std::string route(MemoryId src, MemoryId dst) {
    std::string text =
        fmt::format("    <route src=\"{}\" dst=\"{}\" symmetrical=\"NO\">\n",
                    xml_text(t_.memory(src).name), xml_text(t_.memory(dst).name));
    Rate narrowest{std::numeric_limits<double>::infinity()};
    const int parts = t_.parts(src, dst);
    const auto add = [&](const std::string& id, int times = 1) {
      for (int i = 0; i < times; ++i)
        text += fmt::format("      <link_ctn id=\"{}\"/>\n", xml_text(id));
    };
    const auto add_parts = [&](const std::string& id, Rate rate, int crossing) {
      add(id, crossing * (unit_ / parts));
      narrowest = std::min(narrowest, rate * parts / crossing);
    };
    for (const auto& use : t_.links_on(src, dst))
      add_parts("link " + t_.link(use.link).name, t_.link(use.link).bandwidth, use.parts);
    for (const auto& use : t_.groups_on(src, dst)) {
      const CapacityGroup& group = t_.group(use.group);
      if (group.capacity)
        add_parts("group " + group.name, largest(*group.capacity), use.parts);
    }
    if (unit_ > 1) {  // avoids counting the latency of a repeated link twice
      latencies_.insert(t_.latency(src, dst));
      add(latency_name(t_.latency(src, dst)));
    }
    const Rate alone = t_.pair_rate(src, dst);
    if (alone < narrowest) {
      caps_.insert(alone);
      add(cap_name(alone));
    }
    return text + "    </route>\n";
  }

  const Topology& t_;
  int unit_ = 1;
  std::set<Rate> caps_;
  std::set<Seconds> latencies_;  // of whole routes, if copies are split
};

}  // namespace

std::string to_simgrid_xml(const Topology& topology) {
  const size_t memories = topology.description().memories.size();
  if (memories > most_memories)
    throw out_of_range("memories", fmt::to_string(memories),
                       fmt::format("at most {}, since the file has a route for each pair",
                                   most_memories))
        .at(topology.name());
  return Writer{topology}.platform();
}

}  // namespace tilerail
