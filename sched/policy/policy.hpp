#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/kernels/energy.hpp"
#include "model/published/overlap_models.hpp"
#include "sched/transport/router.hpp"

namespace tilerail {

enum class GridChoice { square, xkblas, automatic };
enum class Routing { initial, bandwidth, link_map, eta, link_eta, peer_rank, nearest_id };
enum class CTiles { eager, lazy, automatic };
enum class WriteBacks { in_order, own_queues, with_next };
enum class Order { fifo, fewest_fetches, eta, eta_all, steps };
enum class MemoryChoice { cubes, evict };
enum class Sends { free, in_order };
enum class CopyRates { alone, duplex };
enum class TileChoice { thesis, search, model, gemmex, repeat, paralia, cublasxt, xkblas };
enum class DeviceChoice { all, first, search };
enum class SelectBy { model, plans };
enum class Distribution { blocks, proportional, sequential, round_robin, cyclic_1d, cyclic_2d, even_blocks };
enum class Shares { equal, by_speed, by_pdp, by_edp };
enum class SmallTiles { none, k_first, k_last, c_last };
enum class Agent { none, paralia, xkblas, blasx };
enum class TileRows { side, all };
enum class TileDepth { side, growing, columns, all };
enum class Ragged { own, merged };
enum class Ways { fixed, search };

/// As many parts of k as there are GPUs.
constexpr int one_part_a_gpu = 1 << 20;

/// Streams of a GPU that are taken where nobody asks for a number: the library of the thesis has 8.
constexpr int most_automatic_streams = 8;

/// A value that the user asked for, be it that of the preset or another.
struct PolicyOverride {
  std::string key, value;
};

/// What a user wishes: a value. Presets are rows of one table (policy.cpp); any field can be overridden by "key=value"
/// (fields.hpp). What comes of the wishes for one problem on one machine are its Decisions (decisions.hpp).
struct Policy {
  std::string preset;                              // that the overrides began with
  std::vector<PolicyOverride> overridden = {};     // in the order in which that happened
  DeviceChoice device_choice = DeviceChoice::all;  // of those given
  const Metric* select = nullptr;                  // by which devices are selected; null: as device_choice says
  SelectBy select_by = SelectBy::plans;
  double select_ms = 100;      // what judging plans may cost, at stated costs of an operation
  Ways ways = Ways::fixed;     // search: values of searched fields are tried, too
  std::int64_t judge_ops = 0;  // of plans that the search may simulate; 0: the estimate alone decides
  GridChoice grid = GridChoice::square;
  int k_split = 1;  // parts of k, each for its own part of the GPUs; their sums are added up
  Distribution distribution = Distribution::blocks;
  Shares shares = Shares::equal;  // of C, that devices compute
  TileChoice tile_choice = TileChoice::thesis;
  OverlapModel tile_model = OverlapModel::dr;  // of TileChoice::model
  std::int64_t tile = 0;                       // 0: chosen by tile_choice
  TileRows tile_rows = TileRows::side;         // of C that a tile has
  TileDepth tile_depth = TileDepth::side;      // of k that a tile has
  SmallTiles small_tiles = SmallTiles::none;   // where tiles are smaller
  Ragged ragged = Ragged::own;                 // what a rest of at most half a tile becomes
  Routing routing = Routing::initial;
  int max_hops = 1;                   // memories between the ends of a route of routing=link-map
  HopRule hop_rule = HopRule::added;  // which routes those are
  bool relays = false;                // where routes over other GPUs are faster, plan with them, too
  bool batch = false;                 // read-only tiles go to all GPUs that need them in one chain
  int chunks = 8;                     // pieces of a tile in a chain
  std::int64_t min_chunk_bytes = 0;   // fewer pieces where they would be smaller than this
  Sends sends = Sends::free;          // copies from one GPU to others: together, or one after another in plan order
  PeerCopies peer_copies = PeerCopies::direct;  // direct, or over a buffer on a host: all, or those of homes
  CopyRates copy_rates = CopyRates::alone;      // duplex: those that copies beside others the other way have
  CTiles c_tiles = CTiles::eager;
  WriteBacks write_backs = WriteBacks::in_order;  // where among copies, and when
  Order order = Order::fifo;
  Agent agent = Agent::none;  // whose rules say when a GPU asks for which task
  bool caching = true;
  bool in_place = true;   // tiles that are at home on the GPU that computes
  bool warm = false;      // GPUs hold what an earlier call of the same has left there
  int input_buffers = 0;  // tiles of A, and of B, that a GPU holds at once where it keeps none; 0: as many as fit
  bool overlap = true;
  int compute_streams = most_automatic_streams;  // 0: as many as the tile's kernels need to fill a GPU
  MemoryChoice memory = MemoryChoice::cubes;
  double memory_fraction = 0.8;  // share of a GPU's memory that tiles may take
  bool single_issuer = false;    // one host thread issues every operation
  bool graph = true;             // a plan that gains by it is handed over as one graph from its second run on
  // Microseconds that the run-time system of the library takes: for a kernel, for a copy from or to a
  // host, for one from GPU to GPU, for a call, for each GPU of a call.
  double task_us = 0, request_us = 0, peer_us = 0, gpu_us = 0;
};

/// Throws InputError naming the presets there are.
Policy preset(std::string_view name);
std::vector<std::string> preset_names();

}  // namespace tilerail
