#include "sched/prescribed/transport.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "model/base/indices.hpp"

namespace tilerail {

std::vector<Hop> hops(Pattern pattern, size_t nodes) {
  const size_t half = nodes / 2;
  std::vector<Hop> all;
  for (size_t i = 1; i < nodes; ++i) {
    const size_t back = nodes + half - i;  // n - 1, n - 2, ... after the first half
    if (pattern == Pattern::ring && i > half)
      all.push_back({(back + 1) % nodes, back});
    else
      all.push_back({pattern == Pattern::tree ? (i - 1) / 2 : i - 1, i});
  }
  return all;
}

LocalTile Transport::room_for(Buffer block, MemoryId gpu) {
  block.memory = gpu;
  LocalTile tile{block, {{}, 0, 0, block.rows, block.cols}};
  if (!own.has(gpu)) return tile;
  tile.arena = &arenas.try_emplace(gpu, Arena::on_demand(builder, gpu)).first->second;
  tile.slot = tile.arena->take(block, {});
  tile.view.buffer = tile.slot.buffer;
  tile.uses = tile.slot.former;
  return tile;
}

LocalTile Transport::send(LocalTile& tile, MemoryId to) {
  if (tile.is_zero()) return {};
  LocalTile there = room_for(tile.block, to);
  run({}, {&tile}, there, options.pieces);
  return there;
}

void Transport::drop(LocalTile& tile) {
  if (tile.arena) tile.arena->give_back(tile.slot, tile.uses);
  tile = {};
}

void Transport::drop(Tiles& tiles) {
  for (auto& [gpu, tile] : tiles) drop(tile);
}

LocalTile Transport::send_and_drop(LocalTile& tile, MemoryId to) {
  LocalTile there = send(tile, to);
  drop(tile);
  return there;
}

void Transport::shift(Tiles& tiles, std::span<const MemoryId> ring, Tiles& next) {
  for (const auto r : indices(ring)) {
    const MemoryId to = ring[(r + 1) % ring.size()];
    next[to] = send(tiles[ring[r]], to);
  }
}

void Transport::broadcast(LocalTile root, std::span<const MemoryId> members,
                          Tiles& tiles) {
  if (root.is_zero()) return;
  const size_t n = members.size(),
               start =
                   size_t(std::ranges::find(members, root.memory()) - members.begin()),
               outside = start == n ? 1 : 0;
  const auto gpu = [&](size_t v) { return members[(start + v - outside) % n]; };
  const auto tile = [&](size_t v) -> LocalTile& {
    return v < outside ? root : tiles[gpu(v)];
  };
  tile(0) = root;
  for (const Hop& hop : hops(options.pattern, n + outside))
    tile(hop.to) = send(tile(hop.from), gpu(hop.to));
}

void Transport::reduce(Tiles& sums, std::span<const MemoryId> members) {
  std::vector<Hop> all = hops(options.pattern, members.size());
  std::ranges::reverse(all);
  for (const Hop& hop : all) {
    const MemoryId adder = members[hop.from];
    LocalTile part = send_and_drop(sums[members[hop.to]], adder);
    if (!part.is_zero())
      run({.kind = OpKind::axpby}, {&part}, sums[adder], options.pieces);
    drop(part);
  }
}

View Transport::operand(const LocalTile& tile, int j, int pieces) {
  const View view = piece(tile.view, j, pieces);
  if (own.has(tile.memory())) return view;
  Buffer remote = tile.block;
  remote.col += view.col - tile.view.col, remote.cols = view.cols;
  return {builder.add_buffer(remote), 0, 0, view.rows, view.cols};
}

/// All pieces are in one queue, so the first waits for the uses of y on behalf of all.
void Transport::run(Op op, std::initializer_list<LocalTile*> inputs, LocalTile& y,
                    int pieces) {
  pieces = int(std::clamp<int64_t>(pieces, 1, y.view.cols));
  op.beta = std::exchange(y.scale, Scalar::one);
  const MemoryId from = (*inputs.begin())->memory(), to = y.memory();
  if (!own.has_any(std::array{from, to})) return;
  op.queue = op.kind == OpKind::copy ? builder.copy_queue(from, to)
                                     : builder.compute_queue(to, 0);
  Pieces added{};
  for (int j = 0; j < pieces; ++j) {
    Deps deps;
    if (j == 0) deps.after(y.uses);
    Operands operands;
    for (const LocalTile* input : inputs) {
      if (input->written && (j == 0 || input->written->count() == pieces))
        deps.after(input->written->of(j, pieces));
      operands.push_back(operand(*input, j, pieces));
    }
    operands.push_back(operand(y, j, pieces));
    added.last = builder.add(op, operands, deps);
    if (j == 0) added.first = added.last;
  }
  for (LocalTile* input : inputs) {
    if (!own.has(input->memory())) continue;
    const auto& uses = input->uses.all();
    if (input->written && uses.back().second == input->written->last) input->uses.clear();
    input->uses.add(op.queue, added.last);
  }
  if (!own.has(to)) return;
  y.written = added;
  y.uses.clear();
  y.uses.add(op.queue, added.last);
}

}  // namespace tilerail
