#include "backends/cuda/run/issue_op.hpp"

#include <stdexcept>

#include "backends/cuda/run/kernels.hpp"

namespace tilerail::cuda {
namespace {

Block block(const Plan& plan, const View& view, std::span<std::byte* const> buffers) {
  const Buffer& buffer = plan.buffer(view.buffer);
  const int64_t first = view.row + view.col * buffer.ld;
  std::byte* base = buffers[view.buffer.index()];
  return {base ? base + first * buffer.element() : nullptr, view.rows, view.cols,
          buffer.ld};
}

}  // namespace

void issue_op(const Plan& plan, const Op& op, std::span<std::byte* const> buffers,
              const Target& target) {
  if (op.kind == OpKind::join) return;
  const auto operands = plan.operands_of(op);
  const Buffer &input = plan.buffer(operands[0].buffer),
               &result = plan.buffer(operands.back().buffer);
  const double alpha = plan.value(op.alpha), beta = plan.value(op.beta);
  const auto at = [&](size_t i) { return block(plan, operands[i], buffers); };
  switch (op.kind) {
    case OpKind::copy:
      if (input.memory == result.memory)
        return copy_within(at(0), at(1), result.element(), target.stream);
      return copy(at(0), at(1), result.element(), target.stream);
    case OpKind::axpby:
      return axpby(at(0), at(1), alpha, beta, result.dtype, target.stream,
                   input.dtype != result.dtype);
    case OpKind::gemm:
      return gemm(static_cast<cublasHandle_t>(target.handle),
                  {input.dtype, op.trans_a, op.trans_b, gemm_depth(op, operands), alpha,
                   beta, at(0), at(1), at(2), target.scalar, result.dtype});
    default:
      throw std::logic_error{
          "no CUDA kernel of this kind"};  // require_kernels has rejected the plan before
  }
}

}  // namespace tilerail::cuda
