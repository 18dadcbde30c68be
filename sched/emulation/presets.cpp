#include "sched/emulation/presets.hpp"

#include <algorithm>
#include <memory>

#include "model/base/error.hpp"
#include "sched/emulation/profile.hpp"

namespace tilerail {
namespace {

std::shared_ptr<const Emulation> of(const Profile& profile) {
  return std::make_shared<LibraryEmulation>(profile);
}

/// Presets that emulate other libraries (docs/model.md#libraries). Fields in the order of
/// Policy and Choices.
const std::vector<Policy>& presets_of_libraries() {
  static const std::vector<Policy> table{
      {.preset = "cublasxt",
       .tile_choice = TileChoice::emulated,
       .choices = {.distribution = Distribution::round_robin,
                   .peer_copies = PeerCopies::staged,
                   .write_backs = WriteBacks::own_queues,
                   .caching = false,
                   .input_buffers = 2,
                   .compute_streams = 2,
                   .memory_fraction = 0.8,
                   .emulation = of({.tile_rule = TileRule::cublasxt,
                                    .copy_rates = CopyRates::duplex,
                                    .gpu_us = 2100})}},
      {.preset = "cocopelia",
       .device_choice = DeviceChoice::first,
       .tile_choice = TileChoice::emulated,
       .choices = {.ragged = Ragged::merged,
                   .write_backs = WriteBacks::own_queues,
                   .compute_streams = 1,
                   .memory_fraction = 0.8,
                   .single_issuer = true,
                   .emulation = of({.tile_rule = TileRule::model})}},
      {.preset = "xkblas",
       .grid = GridChoice::emulated,
       .tile_choice = TileChoice::emulated,
       .choices = {.distribution = Distribution::cyclic_2d,
                   .routing = Routing::emulated,
                   .peer_copies = PeerCopies::staged_home,
                   .write_backs = WriteBacks::own_queues,
                   .in_place = false,
                   .compute_streams = 4,
                   .emulation = of({.tile_rule = TileRule::xkblas,
                                    .source_rule = SourceRule::peer_rank,
                                    .agent = Agent::xkblas})}},
      {.preset = "blasx",
       .choices = {.distribution = Distribution::round_robin,
                   .tile = 2048,
                   .routing = Routing::emulated,
                   .peer_copies = PeerCopies::staged_home,
                   .write_backs = WriteBacks::with_next,
                   .compute_streams = 4,
                   .emulation = of(
                       {.source_rule = SourceRule::nearest_id, .agent = Agent::blasx})}},
  };
  return table;
}

/// Presets of the papers behind this project (docs/model.md#policies).
const std::vector<Policy>& presets_of_papers() {
  static const std::vector<Policy> table{
      {.preset = "baseline",
       .tile_choice = TileChoice::emulated,
       .choices = {.ragged = Ragged::merged,
                   .caching = false,
                   .overlap = false,
                   .compute_streams = 1,
                   .memory_fraction = 0.8,
                   .single_issuer = true,
                   .emulation = of({.tile_rule = TileRule::gemmex})}},
      {.preset = "paralia",
       .grid = GridChoice::emulated,
       .tile_choice = TileChoice::emulated,
       .choices = {.distribution = Distribution::even_blocks,
                   .routing = Routing::link_map,
                   .hop_rule = HopRule::bottleneck,
                   .write_backs = WriteBacks::own_queues,
                   .single_issuer = true,
                   .emulation = of({.tile_rule = TileRule::paralia,
                                    .select_by = SelectBy::library,
                                    .agent = Agent::paralia,
                                    .task_us = 25,
                                    .gpu_us = 500})}},
      {.preset = "gemmex",
       .tile_choice = TileChoice::emulated,
       .choices = {.ragged = Ragged::merged,
                   .routing = Routing::eta,
                   .batch = Batch::chain,
                   .batch_min_bytes = 0,
                   .c_tiles = CTiles::automatic,
                   .write_backs = WriteBacks::own_queues,
                   .order = Order::eta_all,
                   .memory_fraction = 0.8,
                   .single_issuer = true,
                   .emulation = of({.tile_rule = TileRule::gemmex,
                                    .task_us = 2,
                                    .request_us = 2,
                                    .peer_us = 2})}},
  };
  return table;
}

Policy our_own() {
  Policy own = preset("tilerail");
  own.choices.emulation = of({});
  return own;
}

/// All presets: one row per policy.
const std::vector<Policy>& presets() {
  static const std::vector<Policy> table = [] {
    std::vector<Policy> rows = presets_of_papers();
    rows.insert(rows.end(), presets_of_libraries().begin(), presets_of_libraries().end());
    rows.push_back(our_own());
    return rows;
  }();
  return table;
}

}  // namespace

Policy any_preset(std::string_view name) {
  const auto row = std::ranges::find(presets(), name, &Policy::preset);
  if (row == presets().end())
    throw unknown_name("policy", name, "a policy", any_preset_names());
  return *row;
}

std::vector<std::string> any_preset_names() {
  std::vector<std::string> names;
  for (const Policy& row : presets()) names.push_back(row.preset);
  return names;
}

Policy without_emulation(Policy policy) {
  if (policy.grid == GridChoice::emulated) policy.grid = GridChoice::square;
  if (policy.tile_choice == TileChoice::emulated) policy.tile_choice = TileChoice::search;
  if (policy.choices.routing == Routing::emulated)
    policy.choices.routing = Routing::initial;
  policy.choices.emulation = of({});
  return policy;
}

}  // namespace tilerail
