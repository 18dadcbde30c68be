#include "sched/tasks/pieces.hpp"

#include <algorithm>

namespace tilerail {

int pieces_of(const PlanContext& context, const View& tile) {
  std::int64_t pieces = std::min<std::int64_t>(context.decisions.chunks, tile.cols);
  const std::int64_t least = context.decisions.min_chunk_bytes;
  if (least > 0) pieces = std::min(pieces, static_cast<std::int64_t>(context.bytes(tile).value) / least);
  return static_cast<int>(std::max<std::int64_t>(1, pieces));
}

View piece(const View& whole, int j, int pieces) {
  const std::int64_t begin = whole.cols * j / pieces, end = whole.cols * (j + 1) / pieces;
  return {whole.buffer, whole.row, whole.col + begin, whole.rows, end - begin};
}

PieceCopies copy_in_pieces(PlanContext& context, std::size_t device, const View& from, const View& to, int pieces,
                           int queue, const Deps& deps, const std::optional<PieceCopies>& before) {
  const bool piecewise = before && before->count() == pieces;
  PieceCopies copies;
  Op op;
  op.queue = context.builder.copy_queue(context.memory(from), context.memory(to), queue);
  for (int j = 0; j < pieces; ++j) {
    op.a = piece(from, j, pieces), op.y = piece(to, j, pieces);
    Deps all = deps;
    if (before) all.after(piecewise ? OpId{before->first.value + j} : before->last);
    copies.last = context.emit(device, op, all);
    if (j == 0) copies.first = copies.last;
  }
  return copies;
}

PieceCopies copy_in_strips(PlanContext& context, std::size_t device, const View& from, const View& to,
                           std::int64_t bytes, int queue, const Deps& deps) {
  constexpr std::int64_t word = 64;
  const std::int64_t element = element_size(context.dtype(to));
  const std::int64_t strip = std::max<std::int64_t>(1, (bytes + word - 1) / word * word / element);
  PieceCopies copies;
  Op op;
  op.queue = context.builder.copy_queue(context.memory(from), context.memory(to), queue);
  for (std::int64_t row = 0; row < to.rows; row += strip) {
    const std::int64_t rows = std::min(strip, to.rows - row);
    op.a = {from.buffer, from.row + row, from.col, rows, from.cols};
    op.y = {to.buffer, to.row + row, to.col, rows, to.cols};
    Deps all = deps;
    copies.last = context.emit(device, op, all);
    if (row == 0) copies.first = copies.last;
  }
  return copies;
}

}  // namespace tilerail
