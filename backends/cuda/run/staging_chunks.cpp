#include "backends/cuda/run/staging_chunks.hpp"

#include <algorithm>

#include "model/base/indices.hpp"

namespace tilerail::cuda {
namespace {

bool overlap(int64_t begin, int64_t size, int64_t other, int64_t other_size) {
  return begin < other + other_size && other < begin + size;
}

bool overlap(const View& x, const View& y) {
  return x.buffer == y.buffer && overlap(x.row, x.rows, y.row, y.rows) &&
         overlap(x.col, x.cols, y.col, y.cols);
}

}  // namespace

StagingChunks::StagingChunks(const Plan& plan, PageableMatrices pageable,
                             std::span<std::byte* const> starts, int64_t slot_bytes)
    : parts_(plan.ops.size()) {
  for (const auto i : indices(plan.ops)) {
    const Op& op = plan.ops[i];
    if (op.kind != OpKind::copy) continue;
    const View &from = plan.operands_of(op)[0], &to = plan.result(op);
    if (pageable.has(plan.buffer(from.buffer)))
      add(Direction::in, plan, OpId{i}, from, starts, slot_bytes);
    else if (pageable.has(plan.buffer(to.buffer)))
      add(Direction::out, plan, OpId{i}, to, starts, slot_bytes);
  }
}

void StagingChunks::add(Direction direction, const Plan& plan, OpId op, const View& host,
                        std::span<std::byte* const> starts, int64_t slot_bytes) {
  auto& chunks = chunks_[size_t(direction)];
  Part& part = parts_[op.index()];
  part = {direction, chunks.size(), chunks.size()};
  if (host.rows == 0 || host.cols == 0) return;
  const Buffer& buffer = plan.buffer(host.buffer);
  const int64_t element = buffer.element(),
                most_rows = std::max<int64_t>(1, slot_bytes / element);
  const int64_t rows = std::min(host.rows, most_rows),
                cols = std::max<int64_t>(1, most_rows / host.rows);
  std::byte* const first =
      starts[host.buffer.index()] + (host.row + host.col * buffer.ld) * element;
  for (int64_t col = 0; col < host.cols; col += cols)
    for (int64_t row = 0; row < host.rows; row += rows)
      chunks.push_back({op, first + (row + col * buffer.ld) * element,
                        buffer.ld * element, row, col, std::min(rows, host.rows - row),
                        std::min(cols, host.cols - col), element});
  part.end = chunks.size();
}

bool may_read_ahead(const Plan& plan, const Topology& topology) {
  constexpr size_t most_written = 10'000;  // every pair of them is compared
  const auto is_c = [&](const View& view) {
    const Buffer& buffer = plan.buffer(view.buffer);
    return !buffer.in_arena && buffer.tensor == tensor_c &&
           topology.is_host(buffer.memory);
  };
  std::vector<View> written;
  const auto was_written = [&](const View& view) {
    return is_c(view) && std::ranges::any_of(written, [&](const View& other) {
             return overlap(view, other);
           });
  };
  for (const Op& op : plan.ops) {
    if (op.kind != OpKind::copy) continue;
    if (std::ranges::any_of(plan.operands_of(op), was_written) ||
        written.size() > most_written)
      return false;
    if (is_c(plan.result(op))) written.push_back(plan.result(op));
  }
  return true;
}

}  // namespace tilerail::cuda
