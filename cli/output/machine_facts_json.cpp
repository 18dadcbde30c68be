#include <nlohmann/json.hpp>

#include "cli/output/machine_facts_text.hpp"
#include "model/base/indices.hpp"
#include "model/machine/machine_facts.hpp"

namespace tilerail::cli {
namespace {

using Json = nlohmann::ordered_json;

Json routes_json(const Topology& topology) {
  Json routes = Json::array();
  for (const auto s : indices(topology.description().memories))
    for (const auto d : indices(topology.description().memories)) {
      const MemoryId src{s}, dst{d};
      if (s == d || !topology.has_route(src, dst)) continue;
      Json links = Json::array();
      for (const LinkId link : topology.route(src, dst)) links.push_back(topology.link(link).name);
      routes.push_back({{"from", topology.memory(src).name},
                        {"to", topology.memory(dst).name},
                        {"links", links},
                        {"latency_s", topology.latency(src, dst).value},
                        {"bandwidth_bytes_per_s", topology.pair_rate(src, dst).value}});
      if (const double parts = topology.parts(src, dst); parts > 1)
        for (const auto& use : topology.links_on(src, dst)) routes.back()["shares"].push_back(use.parts / parts);
    }
  return routes;
}

}  // namespace

std::string facts_json(const Topology& topology) {
  Json json{{"schema", 1}, {"machine", topology.name()}};
  Json nearest = Json::array();
  for (const NearestHost& each : nearest_hosts(topology))
    nearest.push_back({{"gpu", topology.memory(each.gpu).name},
                       {"host", topology.memory(each.host).name},
                       {"in_alone", each.in_alone.value},
                       {"out_alone", each.out_alone.value},
                       {"in_both", each.in_both.value},
                       {"out_both", each.out_both.value},
                       {"in_all", each.in_all.value},
                       {"out_all", each.out_all.value},
                       {"in_all_both", each.in_all_both.value},
                       {"out_all_both", each.out_all_both.value}});
  json["nearest_hosts"] = nearest;
  const auto cut = bisection(topology);
  json["bisection"] = cut ? Json{{"pairs", cut->pairs},
                                 {"forward_bytes_per_s", cut->forward.value},
                                 {"backward_bytes_per_s", cut->backward.value},
                                 {"both_bytes_per_s", cut->both.value}}
                          : Json{};
  if (topology.description().memories.size() <= most_in_tables) json["routes"] = routes_json(topology);
  return json.dump(2) + "\n";
}

}  // namespace tilerail::cli
