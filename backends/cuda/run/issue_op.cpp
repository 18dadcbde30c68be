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
  const DType dtype = plan.buffer(op.y.buffer).dtype;
  const double alpha = plan.value(op.alpha), beta = plan.value(op.beta);
  const auto at = [&](const View& view) { return block(plan, view, buffers); };
  switch (op.kind) {
    case OpKind::copy:
      if (plan.buffer(op.a.buffer).memory == plan.buffer(op.y.buffer).memory)
        return copy_within(at(op.a), at(op.y), element_size(dtype), target.stream);
      return copy(at(op.a), at(op.y), element_size(dtype), target.stream);
    case OpKind::axpby:
      return axpby(at(op.a), at(op.y), alpha, beta, dtype, target.stream);
    case OpKind::gemm:
      return gemm(
          static_cast<cublasHandle_t>(target.handle),
          {dtype, op.trans_a, op.trans_b, op.trans_a == Trans::no ? op.a.cols : op.a.rows,
           alpha, beta, at(op.a), at(op.b), at(op.y), target.scalar});
    case OpKind::join:
      return;
    default:
      throw std::logic_error{
          "no CUDA kernel of this kind"};  // require_kernels has rejected the plan before
  }
}

}  // namespace tilerail::cuda
