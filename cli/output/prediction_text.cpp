#include "cli/output/prediction_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "model/base/text.hpp"

namespace tilerail::cli {
namespace {

using study::DevicePrediction;
using study::OverlapPrediction;
using study::TilePrediction;
using study::WorkloadPrediction;
using Json = nlohmann::ordered_json;

std::string time_text(const std::optional<double>& seconds) { return seconds ? seconds_text(*seconds) : "-"; }
std::string energy_text(const std::optional<double>& joules) { return joules ? joules_text(*joules) : "-"; }
Json or_null(const std::optional<double>& value) { return value ? Json(*value) : nullptr; }

std::string transfer_text(const std::string& name, const TransferTime& t) {
  return fmt::format("{}  {:.2f} GB/s after {}, {:.2f} times as long while both directions run\n", name,
                     1e-9 * inverse(t.per_byte).value, seconds_text(t.latency.value), t.slowdown);
}

std::string text_of(const OverlapPrediction& prediction, const Topology&) {
  std::vector<std::vector<std::string>> lines{{"model", "tile", "predicted", "simulated"}};
  for (const TilePrediction& p : prediction.tiles)
    lines.push_back({p.chooser, std::to_string(p.tile), time_text(p.predicted), time_text(p.simulated)});
  return transfer_text("to the GPU  ", prediction.h2d) + transfer_text("from the GPU", prediction.d2h) + "\n" +
         aligned(lines, "lr");
}

std::string text_of(const WorkloadPrediction& prediction, const Topology& topology) {
  std::vector<std::vector<std::string>> lines{
      {"choice", "GPUs", "shares, %", "predicted", "its energy", "tile", "simulated", "its energy"}};
  for (const DevicePrediction& p : prediction.choices) {
    std::vector<int> numbers;
    std::vector<std::string> shares;
    for (const MemoryId device : p.devices) numbers.push_back(topology.memory(device).device);
    for (const double share : p.shares) shares.push_back(fmt::format("{:.1f}", 100 * share));
    lines.push_back({p.choice, fmt::format("{}", fmt::join(numbers, ",")),
                     shares.empty() ? "-" : fmt::format("{}", fmt::join(shares, " ")), time_text(p.predicted_s),
                     energy_text(p.predicted_j), std::to_string(p.tile), time_text(p.simulated_s),
                     energy_text(p.simulated_j)});
  }
  const std::string no_watts = fmt::format("no metrics of energy: {} has no watts of them\n", topology.name());
  return fmt::format("{} counts kernels and transfers of tiles of {}\n\n", study::workload_model, prediction.tile) +
         aligned(lines, "lllr") + (prediction.has_watts ? "" : no_watts);
}

Json json_of(const OverlapPrediction& prediction, const Topology&) {
  const auto transfer = [](const TransferTime& t) {
    return Json{{"latency_s", t.latency.value}, {"bytes_per_s", inverse(t.per_byte).value}, {"slowdown", t.slowdown}};
  };
  Json json{{"schema", 1}, {"h2d", transfer(prediction.h2d)}, {"d2h", transfer(prediction.d2h)}};
  for (const TilePrediction& p : prediction.tiles)
    json["predictions"].push_back({{"model", p.chooser},
                                   {"tile", p.tile},
                                   {"predicted_s", or_null(p.predicted)},
                                   {"simulated_s", or_null(p.simulated)}});
  return json;
}

Json json_of(const WorkloadPrediction& prediction, const Topology& topology) {
  Json json{{"schema", 1}, {"model", study::workload_model}, {"tile", prediction.tile}};
  for (const DevicePrediction& p : prediction.choices) {
    std::vector<std::string> names;
    for (const MemoryId device : p.devices) names.push_back(topology.memory(device).name);
    json["predictions"].push_back({{"choice", p.choice},
                                   {"devices", names},
                                   {"shares", p.shares.empty() ? Json(nullptr) : Json(p.shares)},
                                   {"predicted_s", or_null(p.predicted_s)},
                                   {"predicted_energy_j", or_null(p.predicted_j)},
                                   {"tile", p.tile},
                                   {"simulated_s", or_null(p.simulated_s)},
                                   {"simulated_energy_j", or_null(p.simulated_j)}});
  }
  return json;
}

}  // namespace

std::string to_text(const study::Prediction& prediction, const Topology& topology) {
  return std::visit([&](const auto& each) { return text_of(each, topology); }, prediction);
}

std::string to_json(const study::Prediction& prediction, const Topology& topology) {
  return std::visit([&](const auto& each) { return json_of(each, topology); }, prediction).dump(2) + "\n";
}

}  // namespace tilerail::cli
