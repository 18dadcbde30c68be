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

}  // namespace tilerail
