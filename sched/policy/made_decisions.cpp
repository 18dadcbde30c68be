#include "sched/policy/made_decisions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "sched/policy/fields.hpp"

namespace tilerail {
namespace {

[[noreturn]] void refuse(const PlanDecision& decision, const std::string& expected) {
  throw InputError{decision.key, decision.value, "", expected};
}

const PlanDecision& needed(const std::vector<PlanDecision>& text, std::string_view key) {
  const auto found = std::ranges::find(text, key, &PlanDecision::key);
  if (found == text.end()) throw missing(key, "this decision");
  return *found;
}

Grid grid_of(const PlanDecision& decision, size_t devices) {
  const auto sides = split(decision.value, 'x');
  if (sides.size() != 2 && sides.size() != 3)
    refuse(decision, "rows, columns and maybe layers, such as 2x4 or 2x2x2");
  const auto most = int64_t(devices);
  Grid grid;
  const std::array numbers{&grid.rows, &grid.cols, &grid.layers};
  for (const auto i : indices(sides))
    *numbers[i] = int(parse_integer(sides[i], decision.key, 1, most));
  if (int64_t{grid.rows} * grid.cols * grid.layers != most)
    refuse(decision, fmt::format("a grid of {} GPUs", devices));
  return grid;
}

std::vector<double> shares_of(const PlanDecision& decision, size_t devices) {
  if (decision.value == "equal") return std::vector<double>(devices, 1.0);
  std::vector<double> shares;
  for (const std::string_view part : split(decision.value, ':')) {
    constexpr double least = 1e-300, most = 1e300;
    shares.push_back(parse_real(part, decision.key));
    if (!(shares.back() >= least && shares.back() <= most))
      refuse(decision, "shares above 0");
  }
  if (shares.size() != devices)
    refuse(decision, fmt::format("a share for each of {} GPUs", devices));
  return shares;
}

/// An option that leaves a choice open is not a decision.
void set_field(Policy& said, const PlanDecision& decision) try {
  if (decision.value == "auto" || is_of_the_search(said, decision.key))
    refuse(decision, "a decided value");
  apply_override(said, decision.key + "=" + decision.value);
} catch (const InputError& error) {
  throw InputError{decision.key, decision.value, "is not a decision", error.expected};
}

}  // namespace

std::vector<PlanDecision> exact_text(const Decisions& decisions,
                                     const Topology& topology) {
  std::vector<PlanDecision> text = to_text(decisions, topology);
  std::vector<std::string> digits;
  for (const double share : decisions.shares) digits.push_back(shortest(share));
  for (PlanDecision& decision : text)
    if (decision.key == "shares" && decision.value != "equal")
      decision.value = fmt::format("{}", fmt::join(digits, ":"));
  return text;
}

std::vector<MemoryId> made_devices(const std::vector<PlanDecision>& text,
                                   const Topology& topology) {
  const PlanDecision& decision = needed(text, "devices");
  std::vector<MemoryId> devices;
  for (const std::string_view name : split(decision.value, ',')) {
    const auto device = topology.find_processor(name);
    if (!device)
      refuse(decision,
             fmt::format("a list of processors of machine '{}'", topology.name()));
    if (std::ranges::find(devices, *device) != devices.end())
      refuse(decision, "each processor once");
    devices.push_back(*device);
  }
  return devices;
}

int64_t made_tile(const std::vector<PlanDecision>& text) {
  constexpr int64_t most = int64_t{1} << 40;
  return parse_integer(needed(text, "tile").value, "tile", 1, most);
}

Decisions with_made(Decisions d, const std::vector<PlanDecision>& text,
                    const Topology& topology) {
  Policy said;
  said.choices = d.choices;
  d.devices = made_devices(text, topology);
  for (const PlanDecision& decision : text) {
    if (decision.key == "devices" || decision.key == "tiles")
      continue;  // tiles: follows from the others
    if (decision.key == "grid")
      d.grid = grid_of(decision, d.devices.size());
    else if (decision.key == "shares")
      d.shares = shares_of(decision, d.devices.size());
    else
      set_field(said, decision);
  }
  if (d.shares.size() != d.devices.size() || d.grid.gpus() != int(d.devices.size()))
    throw fault_of("grid", "grid and shares do not match",
                   fmt::format("both for {} GPUs", d.devices.size()));
  d.choices = said.choices;
  return d;
}

}  // namespace tilerail
