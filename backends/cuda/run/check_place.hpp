#pragma once

#include <optional>
#include <string_view>

namespace tilerail::cuda {

/// Throws InputError where a matrix, "A" for one, is not given or lies elsewhere than in
/// a plan's memory: on this CUDA device, or, without one, on the host. Managed memory is
/// anywhere. Throws CudaError.
void check_place(char matrix, const void* pointer, std::optional<int> device,
                 std::string_view memory);

}  // namespace tilerail::cuda
