#include "report/timeline/labels.hpp"

#include <fmt/format.h>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

bool is_matrix(const Buffer& buffer) { return buffer.kind != Buffer::Kind::tile; }

char letter(Buffer::Kind kind) {
  return kind == Buffer::Kind::matrix_a ? 'A' : kind == Buffer::Kind::matrix_b ? 'B' : 'C';
}

}  // namespace

RegionLabels::RegionLabels(const Plan& plan) : plan_{plan}, origins_(plan.buffers.size()) {
  for (const auto i : indices(plan.buffers)) {
    if (is_matrix(plan.buffers[i])) origins_[i] = Origin{plan.buffers[i].kind, 0, 0};
  }
}

size_t RegionLabels::RegionHash::operator()(const Region& region) const {
  size_t hash = size_t(region.matrix);
  for (const int64_t part : {region.row, region.col, region.rows, region.cols}) {
    hash = (hash ^ size_t(part)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

std::optional<RegionLabels::Region> RegionLabels::region_of(const View& view) const {
  const std::optional<Origin>& origin = origins_[view.buffer.index()];
  if (!origin) return std::nullopt;
  return Region{origin->matrix, origin->row + view.row, origin->col + view.col, view.rows, view.cols};
}

void RegionLabels::remember(const View& view, const std::optional<Region>& region) {
  if (is_matrix(plan_.buffer(view.buffer))) return;
  origins_[view.buffer.index()].reset();
  if (region) origins_[view.buffer.index()] = Origin{region->matrix, region->row - view.row, region->col - view.col};
}

std::optional<RegionLabels::Region> RegionLabels::result_of(const Op& op) const {
  if (is_matrix(plan_.buffer(op.y.buffer))) return region_of(op.y);
  if (op.kind == OpKind::copy) return region_of(op.a);
  if (op.kind == OpKind::axpby) {
    if (reads_y(op))
      if (const auto own = region_of(op.y)) return own;
    auto region = reads_a(op) ? region_of(op.a) : std::nullopt;
    if (region) region->matrix = Buffer::Kind::matrix_c;  // the result is y, also where its rows were found by x
    return region;
  }
  if (op.kind != OpKind::gemm) return region_of(op.y);
  const auto a = region_of(op.a), b = region_of(op.b);
  if (!a || !b) return region_of(op.y);
  return Region{Buffer::Kind::matrix_c, op.trans_a == Trans::no ? a->row : a->col,
                op.trans_b == Trans::no ? b->col : b->row, op.y.rows, op.y.cols};
}

uint32_t RegionLabels::next(const Op& op, StringTable& labels) {
  if (op.kind == OpKind::join) return labels.intern("");
  const std::optional<Region> region = result_of(op);
  remember(op.y, region);
  if (!region) return labels.intern("");
  const auto found = known_.find(*region);
  if (found != known_.end()) return found->second;
  const uint32_t label =
      labels.intern(fmt::format("{}[{}:{},{}:{}]", letter(region->matrix), region->row, region->row + region->rows,
                                region->col, region->col + region->cols));
  known_.emplace(*region, label);
  return label;
}

}  // namespace tilerail
