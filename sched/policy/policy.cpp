#include "sched/policy/policy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "model/base/error.hpp"
#include "sched/policy/efforts.hpp"

namespace tilerail {
namespace {

/// Presets that emulate other libraries (docs/model.md#libraries). Fields in the order of struct Policy and of Choices.
const std::array<Policy, 4>& presets_of_libraries() {
  static const std::array<Policy, 4> table{{
      {.preset = "cublasxt",
       .tile_choice = TileChoice::cublasxt,
       .choices = {.distribution = Distribution::round_robin,
                   .peer_copies = PeerCopies::staged,
                   .copy_rates = CopyRates::duplex,
                   .write_backs = WriteBacks::own_queues,
                   .caching = false,
                   .input_buffers = 2,
                   .compute_streams = 2,
                   .memory_fraction = 0.8,
                   .gpu_us = 2100}},
      {.preset = "cocopelia",
       .device_choice = DeviceChoice::first,
       .tile_choice = TileChoice::model,
       .choices = {.ragged = Ragged::merged,
                   .write_backs = WriteBacks::own_queues,
                   .compute_streams = 1,
                   .memory = MemoryChoice::evict,
                   .memory_fraction = 0.8,
                   .single_issuer = true}},
      {.preset = "xkblas",
       .grid = GridChoice::xkblas,
       .tile_choice = TileChoice::xkblas,
       .choices = {.distribution = Distribution::cyclic_2d,
                   .routing = Routing::peer_rank,
                   .peer_copies = PeerCopies::staged_home,
                   .write_backs = WriteBacks::own_queues,
                   .agent = Agent::xkblas,
                   .in_place = false,
                   .compute_streams = 4,
                   .memory = MemoryChoice::evict}},
      {.preset = "blasx",
       .choices = {.distribution = Distribution::round_robin,
                   .tile = 2048,
                   .routing = Routing::nearest_id,
                   .peer_copies = PeerCopies::staged_home,
                   .write_backs = WriteBacks::with_next,
                   .agent = Agent::blasx,
                   .compute_streams = 4,
                   .memory = MemoryChoice::evict}},
  }};
  return table;
}

/// Those of the papers that this project comes from (docs/model.md#policies).
const std::array<Policy, 3>& presets_of_papers() {
  static const std::array<Policy, 3> table{{
      {.preset = "baseline",
       .tile_choice = TileChoice::gemmex,
       .choices = {.ragged = Ragged::merged,
                   .caching = false,
                   .overlap = false,
                   .compute_streams = 1,
                   .memory_fraction = 0.8,
                   .single_issuer = true}},
      {.preset = "paralia",
       .select_by = SelectBy::model,
       .grid = GridChoice::xkblas,
       .tile_choice = TileChoice::paralia,
       .choices = {.distribution = Distribution::even_blocks,
                   .routing = Routing::link_map,
                   .hop_rule = HopRule::bottleneck,
                   .write_backs = WriteBacks::own_queues,
                   .agent = Agent::paralia,
                   .memory = MemoryChoice::evict,
                   .single_issuer = true,
                   .task_us = 40,
                   .gpu_us = 500}},
      {.preset = "gemmex",
       .tile_choice = TileChoice::gemmex,
       .choices = {.ragged = Ragged::merged,
                   .routing = Routing::eta,
                   .batch = true,
                   .chain_min_bytes = 0,
                   .c_tiles = CTiles::automatic,
                   .write_backs = WriteBacks::own_queues,
                   .order = Order::eta_all,
                   .memory_fraction = 0.8,
                   .single_issuer = true,
                   .task_us = 2,
                   .request_us = 2,
                   .peer_us = 2}},
  }};
  return table;
}

/// Ours.
const Policy& preset_of_our_own() {
  static const Policy row{.preset = "tilerail",
                          .device_choice = DeviceChoice::search,
                          .ways = Ways::search,
                          .judge_ops = normal_effort,
                          .grid = GridChoice::automatic,
                          .shares = Shares::by_speed,
                          .relays = true,
                          .tile_choice = TileChoice::search,
                          .choices = {.routing = Routing::link_eta,
                                      .batch = true,
                                      .sends = Sends::in_order,
                                      .c_tiles = CTiles::automatic,
                                      .order = Order::eta,
                                      .compute_streams = 0,
                                      .memory = MemoryChoice::evict}};
  return row;
}

/// All presets: one row a policy.
const std::vector<Policy>& presets() {
  static const std::vector<Policy> table = [] {
    std::vector<Policy> rows{presets_of_papers().begin(), presets_of_papers().end()};
    rows.insert(rows.end(), presets_of_libraries().begin(), presets_of_libraries().end());
    rows.push_back(preset_of_our_own());
    return rows;
  }();
  return table;
}

}  // namespace

Policy preset(std::string_view name) {
  for (const Policy& row : presets())
    if (row.preset == name) return row;
  throw unknown_name("policy", name, "a policy", preset_names());
}

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Policy& row : presets()) names.push_back(row.preset);
  return names;
}

}  // namespace tilerail
