#include "cli/output/chain_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "model/base/text.hpp"
#include "sched/policy/fields.hpp"
#include "study/chain/chain_text.hpp"

namespace tilerail::cli {
namespace {

using study::ChainAlternative;
using study::ChainQuestion;
using study::ChainStudy;
using study::SimulatedChain;
using study::SimulatedProduct;
using Json = nlohmann::ordered_json;

std::vector<std::string> names_of(std::span<const MemoryId> memories, const Topology& topology) {
  std::vector<std::string> names;
  for (const MemoryId memory : memories) names.push_back(topology.memory(memory).name);
  return names;
}

std::vector<std::string> places_of(const SimulatedProduct& product, const Topology& topology) {
  const GemmProblem& p = product.step.problem;
  return names_of(std::array{p.place_a, p.place_b, p.place_c}, topology);
}

/// Where the results of all products but the last lie, in the order of these.
std::vector<std::string> intermediates_of(const SimulatedChain& chain, const Topology& topology) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i + 1 < chain.products.size(); ++i)
    names.push_back(topology.memory(chain.products[i].step.place).name);
  return names;
}

std::string or_dash(const std::vector<std::string>& names) {
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, " "));
}

double ratio(const SimulatedChain& chain, const SimulatedChain& chosen) {
  return chosen.simulated > Seconds{0} ? chain.simulated / chosen.simulated : 1;
}

std::string products_text(const SimulatedChain& chain, const Topology& topology) {
  std::vector<std::vector<std::string>> lines{{"product", "m,n,k", "places", "GPUs", "tile", "predicted", "simulated"}};
  for (const SimulatedProduct& product : chain.products) {
    const GemmProblem& p = product.step.problem;
    lines.push_back({product.text, fmt::format("{},{},{}", p.m, p.n, p.k),
                     fmt::format("{}", fmt::join(places_of(product, topology), ":")),
                     or_dash(names_of(product.devices, topology)), std::to_string(product.tile),
                     seconds_text(product.step.time.value), seconds_text(product.simulated.value)});
  }
  lines.push_back({"total", "", "", "", "", seconds_text(chain.predicted.value), seconds_text(chain.simulated.value)});
  return aligned(lines, "llllr");
}

std::string others_text(const ChainStudy& result, const Topology& topology) {
  std::vector<std::vector<std::string>> lines{{"order", "intermediates", "predicted", "simulated", "ratio", "way"}};
  const auto add = [&](const SimulatedChain& chain, const std::string& what) {
    lines.push_back({chain.order, or_dash(intermediates_of(chain, topology)), seconds_text(chain.predicted.value),
                     seconds_text(chain.simulated.value), fmt::format("{:.2f}", ratio(chain, result.chosen)), what});
  };
  std::string failed;
  add(result.chosen, "chosen");
  for (const ChainAlternative& other : result.others) {
    if (other.error.empty())
      add(other.chain, other.what);
    else
      failed += fmt::format("{}: {}\n", other.chain.order, other.error);
  }
  return aligned(lines, "llrrrl") + failed;
}

Json json_of(const SimulatedChain& chain, const Topology& topology) {
  Json json{{"order", chain.order}, {"predicted_s", chain.predicted.value}, {"simulated_s", chain.simulated.value}};
  json["products"] = Json::array();
  for (const SimulatedProduct& product : chain.products) {
    const GemmProblem& p = product.step.problem;
    json["products"].push_back({{"product", product.text},
                                {"m", p.m},
                                {"n", p.n},
                                {"k", p.k},
                                {"place", places_of(product, topology)},
                                {"devices", names_of(product.devices, topology)},
                                {"tile", product.tile},
                                {"predicted_s", product.step.time.value},
                                {"simulated_s", product.simulated.value}});
  }
  return json;
}

}  // namespace

std::string to_text(const ChainStudy& result, const ChainQuestion& question) {
  const std::vector<std::vector<std::string>> lines{
      {"problem", study::text_of(question.chain, question.topology)},
      {"machine", fmt::format("{}, devices {}", question.topology.name(),
                              fmt::join(names_of(question.devices, question.topology), " "))},
      {"policy", name_of(question.policy)},
      {"order",
       fmt::format("{}, the best by {} estimate{}", result.chosen.order, result.asked, result.asked == 1 ? "" : "s")}};
  return aligned(lines, "l") + "\n" + products_text(result.chosen, question.topology) + "\n" +
         others_text(result, question.topology);
}

std::string to_json(const ChainStudy& result, const ChainQuestion& question) {
  Json json{{"schema", 1},
            {"problem", study::text_of(question.chain, question.topology)},
            {"machine", question.topology.name()},
            {"devices", names_of(question.devices, question.topology)},
            {"policy", name_of(question.policy)},
            {"estimates", result.asked},
            {"chosen", json_of(result.chosen, question.topology)},
            {"others", Json::array()}};
  for (const ChainAlternative& other : result.others) {
    Json row{{"way", other.what}};
    if (other.error.empty()) {
      row["ratio"] = ratio(other.chain, result.chosen);
      row.update(json_of(other.chain, question.topology));
    } else {
      row["order"] = other.chain.order;
      row["error"] = other.error;
    }
    json["others"].push_back(row);
  }
  return json.dump(2) + "\n";
}

}  // namespace tilerail::cli
