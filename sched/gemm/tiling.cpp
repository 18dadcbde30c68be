#include "sched/gemm/tiling.hpp"

#include <algorithm>
#include <utility>

#include "model/base/extents.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// Cuts `range` in one part per weight, equal or in proportion; in multiples of 64 if
/// parts are large enough.
std::vector<IndexRange> weighed(IndexRange range, std::span<const double> weights) {
  const auto parts = int64_t(weights.size());
  std::vector<IndexRange> pieces = split_evenly(range.size(), int(parts));
  if (!all_equal(weights)) {
    const int64_t unit = range.size() >= parts * 512 ? 64 : 1;
    pieces.clear();
    int64_t begin = 0, units = 0;
    for (const int64_t count : apportioned(ceil_div(range.size(), unit), weights)) {
      units += count;
      pieces.push_back({begin, std::min(units * unit, range.size())});
      begin = pieces.back().end;
    }
  }
  for (IndexRange& piece : pieces)
    piece = {range.begin + piece.begin, range.begin + piece.end};
  return pieces;
}

/// Cuts each block in tiles, or not at all; appends them to `tiles` and returns the block
/// of each.
std::vector<size_t> cut(std::span<const IndexRange> blocks, TileCut how, bool whole,
                        std::span<const int64_t> borders,
                        std::vector<IndexRange>& tiles) {
  std::vector<size_t> block_of;
  for (const auto block : indices(blocks)) {
    const int64_t side = whole ? std::max(blocks[block].size(), int64_t{1}) : how.tile;
    std::vector<IndexRange> of_block =
        split_tiles(blocks[block], side, borders, how.ragged);
    if (how.small == SmallTiles::c_last) of_block = with_small_last(std::move(of_block));
    tiles.insert(tiles.end(), of_block.begin(), of_block.end());
    block_of.resize(tiles.size(), block);
  }
  return block_of;
}

/// The tiles of one layer's part of k.
std::vector<IndexRange> cut_k(IndexRange part, TileCut how,
                              std::span<const int64_t> borders) {
  const int64_t side =
      how.depth == TileDepth::all ? std::max(part.size(), int64_t{1}) : how.tile;
  std::vector<IndexRange> tiles = how.depth == TileDepth::growing
                                      ? growing_tiles(part, side, borders)
                                      : split_tiles(part, side, borders, how.ragged);
  if (how.small == SmallTiles::k_first) return with_small_first(std::move(tiles));
  if (how.small == SmallTiles::k_last) return with_small_last(std::move(tiles));
  return tiles;
}

/// Shares of the rows, columns and layers of a grid.
struct Marginals {
  std::vector<double> rows, cols, layers;

  Marginals(Grid grid, std::span<const double> shares)
      : rows(size_t(grid.rows)), cols(size_t(grid.cols)), layers(size_t(grid.layers)) {
    for (const auto d : indices(shares)) {
      rows[d / cols.size() % rows.size()] += shares[d];
      cols[d % cols.size()] += shares[d];
      layers[d / (rows.size() * cols.size())] += shares[d];
    }
  }
};

void sort_unique(std::vector<int64_t>& numbers) {
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

}  // namespace

Tiling::Tiling(const Region& region, Grid grid, TileCut how, const Borders& borders)
    : Tiling{region,
             grid,
             how,
             Distribution::blocks,
             std::vector<double>(size_t(grid.gpus()), 1.0),
             borders} {}

Tiling::Tiling(const Region& region, Grid grid, TileCut how, Distribution distribution,
               std::span<const double> shares, const Borders& borders) {
  const Marginals of{grid, shares};
  const bool in_blocks = distribution == Distribution::proportional ||
                         (distribution == Distribution::blocks && all_equal(shares));
  const auto row_of = cut(in_blocks ? weighed(region.m, of.rows) : std::vector{region.m},
                          how, how.rows == TileRows::all, borders.m, m);
  const auto col_of = cut(in_blocks ? weighed(region.n, of.cols) : std::vector{region.n},
                          how, false, borders.n, n);
  const size_t plane = of.rows.size() * of.cols.size();
  const auto pieces = weighed(region.k, of.layers);
  for (const auto layer : indices(pieces)) {
    const auto before = int64_t(k.size());
    for (const IndexRange part : cut_k(pieces[layer], how, borders.k)) k.push_back(part);
    depths_.push_back({before, int64_t(k.size())});
    add_columns(how, depths_.back(), borders.k);
    const size_t first = layer * plane;
    if (in_blocks) {
      for (const size_t r : row_of)
        for (const size_t c : col_of) owners_.push_back(first + r * of.cols.size() + c);
      continue;
    }
    for (const size_t owner :
         tile_owners(distribution, int64_t(m.size()), int64_t(n.size()), grid,
                     shares.subspan(first, plane)))
      owners_.push_back(first + owner);
  }
  index(shares.size());
}

void Tiling::add_columns(TileCut how, IndexRange depth,
                         std::span<const int64_t> borders) {
  for (int64_t begin = depth.begin, end = begin; begin < depth.end; begin = end) {
    const auto joined = [&](int64_t k_tile) {
      return how.depth == TileDepth::columns &&
             !std::ranges::binary_search(borders, k[size_t(k_tile)].begin);
    };
    do ++end;
    while (end < depth.end && joined(end));
    columns_.resize(size_t(end), {begin, end});
  }
}

void Tiling::index(size_t devices) {
  tiles_of_.resize(devices), rows_of_.resize(devices), cols_of_.resize(devices);
  const auto columns = int64_t(n.size()), tiles = int64_t(m.size()) * columns;
  for (const auto t : indices(owners_)) {
    const int64_t number = int64_t(t) % tiles;
    const TileOfC tile{number / columns, number % columns};
    auto& rows = rows_of_[owners_[t]];
    if (rows.empty() || rows.back() != tile.i) rows.push_back(tile.i);
    cols_of_[owners_[t]].push_back(tile.j);
    tiles_of_[owners_[t]].push_back(tile);
  }
  for (auto& cols : cols_of_) sort_unique(cols);
}

}  // namespace tilerail
