#include "sched/algorithm/cannon25d.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/base/error.hpp"
#include "sched/algorithm/block_gemm.hpp"

namespace tilerail {
namespace {

/// g x g GPUs in layers.
struct Cube {
  std::span<const MemoryId> gpus;
  size_t g, layers = gpus.size() / (g * g), steps = g / layers;

  std::vector<MemoryId> every(size_t stride, size_t first, size_t count) const {
    std::vector<MemoryId> members;
    for (size_t i = 0; i < count; ++i) members.push_back(gpus[first + stride * i]);
    return members;
  }
  /// The GPUs that sum up a block of C, layer 0 first.
  std::vector<MemoryId> stack(size_t block) const { return every(g * g, block, layers); }
};

/// A by block row, or B by block column.
struct Input {
  TensorId tensor;
  std::vector<IndexRange> lines;
  size_t line_stride, stride;    // of GPUs: from line to line, and in a line
  std::vector<size_t> own = {};  // lines with blocks or GPUs of the rank
  Tiles tiles = {};

  std::vector<MemoryId> ring(const Cube& cube, size_t line, size_t layer) const {
    return cube.every(stride, line_stride * line + cube.g * cube.g * layer, cube.g);
  }
};

void find_own_lines(const BlockGemm& gemm, const Cube& cube, Input& in) {
  for (size_t line = 0; line < cube.g; ++line) {
    bool is_own = gemm.owns_any(in.tensor, in.lines[line]);
    for (size_t layer = 0; layer < cube.layers; ++layer)
      is_own = is_own || gemm.transport.own.has_any(in.ring(cube, line, layer));
    if (is_own) in.own.push_back(line);
  }
}

/// Sends each block to the GPU of each layer that needs it in step 0.
void skew(BlockGemm& gemm, const Cube& cube, Input& in,
          const std::vector<IndexRange>& depth) {
  for (const size_t line : in.own) {
    for (size_t q = 0; q < cube.g; ++q) {
      std::vector<MemoryId> members;
      for (size_t layer = 0; layer < cube.layers; ++layer) {
        const size_t at = (q + cube.g - line + layer * cube.steps) % cube.g;
        members.push_back(in.ring(cube, line, layer)[at]);
      }
      gemm.transport.broadcast(gemm.block(in.tensor, in.lines[line], depth[q]), members,
                               in.tiles);
    }
  }
}

Tiles shifted(BlockGemm& gemm, const Cube& cube, Input& in) {
  Tiles next;
  for (size_t layer = 0; layer < cube.layers; ++layer)
    for (const size_t line : in.own)
      gemm.transport.shift(in.tiles, in.ring(cube, line, layer), next);
  return next;
}

void add_products(BlockGemm& gemm, const Cube& cube, Input& a, Input& b, Tiles& sums) {
  for (size_t step = 0; step < cube.steps; ++step) {
    for (auto& [gpu, c] : sums) gemm.add_product(a.tiles[gpu], b.tiles[gpu], c);
    std::array<Tiles, 2> next;
    if (step + 1 < cube.steps) next = {shifted(gemm, cube, a), shifted(gemm, cube, b)};
    Transport::drop(a.tiles), Transport::drop(b.tiles);
    a.tiles = std::move(next[0]), b.tiles = std::move(next[1]);
  }
}

Cube cube_of(std::span<const MemoryId> gpus, size_t g) {
  if (gpus.empty() || gpus.size() % (g * g) != 0 || g % (gpus.size() / (g * g)) != 0)
    throw fault_of("devices",
                   fmt::format("{} GPUs are not layers of {} x {} for 2.5D Cannon",
                               gpus.size(), g, g),
                   "a number of layers by which the side of the grid is divisible");
  return {gpus, g};
}

}  // namespace

Plan plan_cannon25d(const GemmProblem& problem, const Topology& topology,
                    std::span<const MemoryId> gpus, const Transport::Options& options) {
  return part_of_cannon25d(problem, topology, gpus, {}, options).plan;
}

PlanPart part_of_cannon25d(const GemmProblem& given, const Topology& topology,
                           std::span<const MemoryId> gpus, const OwnRank& own,
                           const Transport::Options& options) {
  const int side = given.place_c.grid().rows;
  const Cube cube = cube_of(gpus, size_t(side));
  const Layout layout{{side, side, 1}, {}, {}, cube.every(1, 0, cube.g * cube.g)};
  BlockGemm gemm{given, topology, gpus, layout, options, own};
  const auto depth = split_evenly(given.k, side);
  Input a{tensor_a, split_evenly(given.m, side), 1, cube.g},
      b{tensor_b, split_evenly(given.n, side), cube.g, 1};
  Tiles sums;
  std::vector<size_t> own_blocks;  // of C, with GPUs of the rank in any layer
  for (size_t at = 0; at < cube.g * cube.g; ++at) {
    if (!own.has_any(cube.stack(at))) continue;
    own_blocks.push_back(at);
    const LocalTile c = gemm.block(tensor_c, a.lines[at % cube.g], b.lines[at / cube.g]);
    for (const MemoryId gpu : cube.stack(at))
      sums[gpu] =
          gpu == gpus[at] || c.view.rows == 0 ? c : gemm.transport.room_for(c.block, gpu);
  }
  for (Input* in : {&a, &b}) {
    find_own_lines(gemm, cube, *in);
    if (gemm.problem.has_product()) skew(gemm, cube, *in, depth);
  }
  add_products(gemm, cube, a, b, sums);
  for (const size_t at : own_blocks) {
    gemm.transport.reduce(sums, cube.stack(at));
    gemm.complete(sums[gpus[at]]);
  }
  return gemm.finish("cannon25d", std::max<int64_t>(1, longest(depth)));
}

}  // namespace tilerail
