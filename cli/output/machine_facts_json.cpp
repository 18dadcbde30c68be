#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/output/machine_facts_text.hpp"
#include "model/machine/machine_facts.hpp"

namespace tilerail::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string cell(Rate rate) { return fmt::format("{:.6g}", rate.value / 1e9); }

/// A test case of nvbandwidth: cells are texts in GB/s.
Json test_case(const std::string& name, const std::string& ends, const std::vector<std::vector<std::string>>& matrix,
               double sum) {
  return {{"name", name},
          {"status", "Passed"},
          {"bandwidth_description", fmt::format("memcpy CE {} bandwidth (GB/s)", ends)},
          {"bandwidth_matrix", matrix},
          {"sum", sum / 1e9}};
}

Json host_case(const std::string& name, const char* arrow, const std::vector<NearestHost>& all,
               Rate NearestHost::*rate) {
  std::vector<std::string> row;
  double sum = 0;
  for (const NearestHost& each : all) row.push_back(cell(each.*rate)), sum += (each.*rate).value;
  return test_case(name, fmt::format("CPU(row) {} GPU(column)", arrow), {row}, sum);
}

/// From column to row: that program's row is the GPU that reads, whatever the arrow of its description says.
Json pairs_case(const Topology& topology) {
  std::vector<std::vector<std::string>> matrix;
  double sum = 0;
  for (const MemoryId dst : topology.gpus()) {
    matrix.emplace_back();
    for (const MemoryId src : topology.gpus()) {
      const bool any = src != dst && topology.has_route(src, dst);
      matrix.back().push_back(any ? cell(topology.pair_rate(src, dst)) : "N/A");
      if (any) sum += topology.pair_rate(src, dst).value;
    }
  }
  return test_case("device_to_device_memcpy_read_ce", "GPU(row) -> GPU(column)", matrix, sum);
}

Json routes_json(const Topology& topology) {
  Json routes = Json::array();
  for (std::size_t s = 0; s < topology.description().memories.size(); ++s)
    for (std::size_t d = 0; d < topology.description().memories.size(); ++d) {
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

Json cases_json(const Topology& topology, const std::vector<NearestHost>& all) {
  Json cases = Json::array();
  cases.push_back(host_case("host_to_device_memcpy_ce", "->", all, &NearestHost::in_alone));
  cases.push_back(host_case("device_to_host_memcpy_ce", "<-", all, &NearestHost::out_alone));
  cases.push_back(host_case("host_to_device_bidirectional_memcpy_ce", "<->", all, &NearestHost::in_both));
  cases.push_back(host_case("device_to_host_bidirectional_memcpy_ce", "<->", all, &NearestHost::out_both));
  cases.push_back(host_case("host_to_all_memcpy_ce", "->", all, &NearestHost::in_all));
  cases.push_back(host_case("all_to_host_memcpy_ce", "<-", all, &NearestHost::out_all));
  cases.push_back(host_case("host_to_all_bidirectional_memcpy_ce", "<->", all, &NearestHost::in_all_both));
  cases.push_back(host_case("all_to_host_bidirectional_memcpy_ce", "<->", all, &NearestHost::out_all_both));
  if (topology.description().memories.size() <= most_in_tables) cases.push_back(pairs_case(topology));
  return cases;
}

}  // namespace

std::string facts_json(const Topology& topology) {
  const auto all = nearest_hosts(topology);
  Json json{{"schema", 1}, {"machine", topology.name()}};
  Json nearest = Json::array();
  for (const NearestHost& each : all)
    nearest.push_back({{"gpu", topology.memory(each.gpu).name}, {"host", topology.memory(each.host).name}});
  json["nearest_hosts"] = nearest;
  const auto cut = bisection(topology);
  json["bisection"] = cut ? Json{{"pairs", cut->pairs},
                                 {"forward_bytes_per_s", cut->forward.value},
                                 {"backward_bytes_per_s", cut->backward.value},
                                 {"both_bytes_per_s", cut->both.value}}
                          : Json{};
  if (topology.description().memories.size() <= most_in_tables) json["routes"] = routes_json(topology);
  json["nvbandwidth"] = {{"testcases", cases_json(topology, all)}};
  return json.dump(2) + "\n";
}

}  // namespace tilerail::cli
