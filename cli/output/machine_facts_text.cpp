#include "cli/output/machine_facts_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "model/machine/machine_facts.hpp"

namespace tilerail::cli {
namespace {

using Lines = std::vector<std::vector<std::string>>;

std::string gigabytes(Rate rate) { return fmt::format("{:.1f}", rate.value / 1e9); }

std::string path_text(const Topology& topology, MemoryId src, MemoryId dst) {
  std::vector<std::string> ways;
  const auto add = [&](std::span<const LinkId> links, int share) {
    ways.push_back(share > 1 ? fmt::format("{} parts ", share) : "");
    ways.back() += topology.memory(src).name;
    for (const LinkId link : links)
      ways.back() += " " + topology.description().nodes[topology.link(link).to.index()].name;
  };
  for (const Topology::Way& way : topology.ways(src, dst)) add(way.links, way.share);
  if (ways.empty()) add(topology.route(src, dst), 1);
  return fmt::format("{}", fmt::join(ways, " and "));
}

/// Routes that differ by their ends alone are one line, with the first of them.
std::string routes_text(const Topology& topology) {
  struct Kind {
    size_t pairs = 0;
    std::string example;
  };
  std::map<std::tuple<std::string, size_t, Seconds, Rate>, Kind> kinds;
  const auto side = [&](MemoryId id) { return topology.is_host(id) ? "host" : "GPU"; };
  for (const auto s : indices(topology.description().memories))
    for (const auto d : indices(topology.description().memories)) {
      const MemoryId src{s}, dst{d};
      if (s == d || !topology.has_route(src, dst)) continue;
      Kind& kind = kinds[{fmt::format("{} to {}", side(src), side(dst)), topology.route(src, dst).size(),
                          topology.latency(src, dst), topology.pair_rate(src, dst)}];
      if (kind.pairs++ == 0) kind.example = path_text(topology, src, dst);
    }
  Lines lines{{"routes", "pairs", "links", "latency", "GB/s", "such as"}};
  for (const auto& [key, kind] : kinds) {
    const auto& [ends, links, latency, rate] = key;
    lines.push_back({ends, std::to_string(kind.pairs), std::to_string(links), seconds_text(latency.value),
                     gigabytes(rate), kind.example});
  }
  return "\nRoutes by length, latency and bandwidth of one copy alone\n" + aligned(lines, "lrrrrl", 2);
}

/// Neighbours with the same figures share a line.
std::string nearest_text(const Topology& topology, const std::vector<NearestHost>& all) {
  Lines lines{{"GPU", "nearest host", "h2d", "d2h", "h2d, both ways", "d2h, both ways", "h2d, all", "d2h, all",
               "h2d, all both", "d2h, all both"}};
  std::string first;
  for (const NearestHost& each : all) {
    const std::string gpu = topology.memory(each.gpu).name;
    std::vector<std::string> line{gpu, topology.memory(each.host).name};
    for (const Rate rate : {each.in_alone, each.out_alone, each.in_both, each.out_both, each.in_all, each.out_all,
                            each.in_all_both, each.out_all_both})
      line.push_back(gigabytes(rate));
    const bool same = lines.size() > 1 && std::equal(line.begin() + 1, line.end(), lines.back().begin() + 1);
    if (same)
      lines.back().front() = fmt::format("{} to {}", first, gpu);
    else
      first = gpu, lines.push_back(line);
  }
  return "\nEach GPU with its nearest host, GB/s: alone, with its other direction, all GPUs at once\n" +
         aligned(lines, "llr", 2);
}

}  // namespace

std::string facts_text(const Topology& topology) {
  std::string text = topology.description().memories.size() > most_in_tables ? "" : routes_text(topology);
  if (topology.gpus().size() * topology.hosts().size() > most_near_pairs)
    text += fmt::format("\nThe hosts that are nearest to GPUs are searched among up to {} pairs of both\n",
                        most_near_pairs);
  if (const auto all = nearest_hosts(topology); !all.empty()) text += nearest_text(topology, all);
  if (const auto cut = bisection(topology))
    text += fmt::format(
        "\nBisection: the first {} GPUs, each with its partner among the last {}: {} GB/s forward, {} "
        "backward, {} both ways\n",
        cut->pairs, cut->pairs, gigabytes(cut->forward), gigabytes(cut->backward), gigabytes(cut->both));
  return text;
}

std::string brief_text(const Topology& topology) {
  std::set<std::string> kernels;
  for (const MemoryId gpu : topology.gpus()) kernels.insert(topology.kernels_of(gpu).name);
  return fmt::format("{} host{}, {} GPU{} with kernels {}: {}", topology.hosts().size(),
                     topology.hosts().size() == 1 ? "" : "s", topology.gpus().size(),
                     topology.gpus().size() == 1 ? "" : "s", fmt::join(kernels, ", "),
                     topology.description().description);
}

}  // namespace tilerail::cli
