#pragma once

#include <cstdint>
#include <memory>

#include "sched/transport/router.hpp"

namespace tilerail {

class Emulation;

enum class Distribution {
  blocks,
  proportional,
  sequential,
  round_robin,
  cyclic_1d,
  cyclic_2d,
  even_blocks
};
enum class TileRows { side, all };
enum class TileDepth { side, growing, columns, all };
enum class SmallTiles { none, k_first, k_last, c_last };
enum class Ragged { own, merged };
enum class Routing { initial, bandwidth, link_map, eta, link_eta, emulated };
enum class Batch { off, chain, tree };
enum class Sends { free, in_order };
enum class CTiles { eager, lazy, automatic };
enum class WriteBacks { in_order, own_queues, with_next };
enum class Order { fifo, fewest_fetches, eta, eta_all, steps };

/// The default number of streams of a GPU. Source: the library of the thesis.
constexpr int most_automatic_streams = 8;

/// The options that a policy and the decisions of a plan share. Only a policy may leave
/// options open: a tile of 0, compute-streams of 0, and c-tiles=auto. Parameters follow
/// their option. The table of fields (fields.cpp) contains the meaning of each option.
struct Choices {
  Distribution distribution = Distribution::blocks;
  int64_t tile = 0;
  TileRows tile_rows = TileRows::side;
  TileDepth tile_depth = TileDepth::side;
  SmallTiles small_tiles = SmallTiles::none;
  Ragged ragged = Ragged::own;
  Routing routing = Routing::initial;
  int max_hops = 1;  // intermediate memories of a route of the link map
  HopRule hop_rule = HopRule::added;
  int route_chunks = 8;  // pieces of a tile on a route with the bottleneck rule
  Batch batch = Batch::off;
  int batch_chunks = 8;
  int64_t batch_min_bytes = 8 << 20;  // least size of a piece
  Sends sends = Sends::free;
  PeerCopies peer_copies = PeerCopies::direct;
  int stage_chunks = 8;
  CTiles c_tiles = CTiles::eager;
  WriteBacks write_backs = WriteBacks::in_order;
  Order order = Order::fifo;
  bool caching = true, in_place = true, overlap = true;
  int input_buffers =
      0;  // tiles of A, and of B, on a GPU without caching; 0: as many as fit
  int compute_streams = most_automatic_streams;
  double memory_fraction = 0.9;
  bool single_issuer = false, graph = true;
  std::shared_ptr<const Emulation> emulation = {};  // null: no emulation
};

}  // namespace tilerail
