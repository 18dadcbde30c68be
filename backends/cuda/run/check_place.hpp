#pragma once

#include <optional>
#include <string_view>

namespace tilerail::cuda {

/// Throws InputError if a matrix, for example "A", is missing or is not in the memory
/// that the plan names: on this CUDA device or, without a device, on the host. Managed
/// memory is valid everywhere. Throws CudaError.
void check_place(std::string_view matrix, const void* pointer, std::optional<int> device,
                 std::string_view memory);

}  // namespace tilerail::cuda
