#include "cli/output/machine_graph.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/output/machine_facts_text.hpp"
#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "model/base/text.hpp"

namespace tilerail::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string rate_text(const CapacityCurve& curve) { return bytes_text(curve.saturated().value) + "/s"; }

std::string bound_text(const CapacityGroup& group) {
  std::string both = group.both_busy ? rate_text(*group.both_busy) + " both ways" : "";
  if (!group.capacity) return both;
  return rate_text(*group.capacity) + (both.empty() ? "" : ", " + both);
}

Json node_json(const Topology& topology, const Node& node) {
  constexpr const char* kinds[] = {"host", "gpu", "switch"};
  Json json{{"name", node.name}, {"kind", kinds[int(node.kind)]}, {"lines", Json::array()}};
  const auto memory = topology.find_memory(node.name);
  if (!memory) return json;
  if (!topology.is_host(*memory)) json["lines"].push_back(topology.kernels_of(*memory).name);
  if (const auto capacity = topology.memory(*memory).capacity) json["lines"].push_back(bytes_text(capacity->value));
  return json;
}

std::string graph_json(const Topology& topology) {
  const auto& nodes = topology.description().nodes;
  Json json{{"name", topology.name()}, {"nodes", Json::array()}, {"links", Json::array()}, {"groups", Json::array()}};
  for (const Node& node : nodes) json["nodes"].push_back(node_json(topology, node));
  for (const Link& link : topology.links())
    json["links"].push_back({{"name", link.name},
                             {"from", nodes[link.from.index()].name},
                             {"to", nodes[link.to.index()].name},
                             {"bandwidth", link.bandwidth.value}});
  for (const CapacityGroup& group : topology.groups()) {
    Json links = Json::array();
    for (const auto* side : {&group.forward, &group.backward})
      for (const LinkId link : *side) links.push_back(topology.link(link).name);
    json["groups"].push_back({{"name", group.name}, {"bound", bound_text(group)}, {"links", links}});
  }
  return json.dump();
}

}  // namespace

std::string MachinePainter::draw(const Topology& topology, const std::string& path, const std::string& result) const {
  if (topology.description().memories.size() > most_in_tables)
    throw fault_of("graph", fmt::format("{} has {} memories", topology.name(), topology.description().memories.size()),
                   fmt::format("at most {}", most_in_tables));
  const StagedFile scratch{path + ".json", graph_json(topology)};  // never committed: it vanishes
  const std::string format = std::filesystem::path{path}.extension() == ".png" ? "png" : "svg";
  std::vector<std::string> arguments{"machine", scratch.staged(), "-o", "-", "--format", format};
  if (!result.empty()) {
    arguments.insert(arguments.end(), {"--timeline", result});
    std::vector<std::string> check = arguments;
    check.emplace_back("--check");
    python_.run(check, "--timeline: ");
  }
  return python_.run(arguments);
}

}  // namespace tilerail::cli
