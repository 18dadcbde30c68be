#include "backends/host/run/run_op.hpp"

#include <algorithm>
#include <array>

#include "check/blas.hpp"
#include "check/factor_kernels.hpp"
#include "model/base/indices.hpp"
#include "model/base/threads.hpp"
#include "plan/builder.hpp"

namespace tilerail::host {

Block block_of(const Plan& plan, const View& view, std::byte* start) {
  const Buffer& buffer = plan.buffer(view.buffer);
  const int64_t first = view.row + view.col * buffer.ld;
  return {start ? start + first * buffer.element() : nullptr, view.rows, view.cols,
          buffer.ld};
}

void run_op(const Plan& plan, const Op& op, std::span<const Block> operands) {
  if (op.kind == OpKind::join) return;
  const auto views = plan.operands_of(op);
  const DType dtype = plan.buffer(views.back().buffer).dtype,
              of_inputs = plan.buffer(views[0].buffer).dtype;
  const double alpha = plan.value(op.alpha), beta = plan.value(op.beta);
  const Block &a = operands.front(), &y = operands.back();
  switch (op.kind) {
    case OpKind::copy:
      return copy(a, y, element_size(dtype));
    case OpKind::axpby:
      return axpby(a, y, alpha, beta, of_inputs, dtype);
    case OpKind::gemm: {
      const Block& b = operands[1];
      return multiply({of_inputs, op.trans_a, op.trans_b, y.rows, y.cols,
                       gemm_depth(op, views), alpha, beta, a.data, b.data, y.data, a.ld,
                       b.ld, y.ld, dtype});
    }
    default:
      return run_tile_kernel(*tile_kernel(op.kind), operands, dtype);
  }
}

void run_op_in(const Plan& plan, const Op& op, std::span<std::byte* const> buffers) {
  const auto operands = plan.operands_of(op);
  std::array<Block, most_operands> blocks;
  for (const auto i : indices(operands))
    blocks[i] = block_of(plan, operands[i], buffers[operands[i].buffer.index()]);
  run_op(plan, op, std::span{blocks}.first(operands.size()));
}

int threads_beside(size_t gpus) {
  return std::max(1, int(usable_cores().size()) - int(gpus) - 1);
}

}  // namespace tilerail::host
