#pragma once

#include <cstddef>
#include <span>

#include "check/kernels.hpp"
#include "plan/plan.hpp"

namespace tilerail::host {

/// The block that a view selects of a buffer with this start; `start` can be null.
Block block_of(const Plan& plan, const View& view, std::byte* start);

/// Runs a copy or a kernel with the BLAS and LAPACK libraries. `operands`: in the order
/// of the kind. Throws InputError as they do (check/blas.hpp, check/factor_kernels.hpp).
void run_op(const Plan& plan, const Op& op, std::span<const Block> operands);

/// The same on operands in buffers with these starts, in the order of the plan's buffers.
void run_op_in(const Plan& plan, const Op& op, std::span<std::byte* const> buffers);

/// Threads for kernels of all cores next to `gpus` threads that issue to GPUs and the
/// driver's own: more would wait for each other.
int threads_beside(size_t gpus);

}  // namespace tilerail::host
