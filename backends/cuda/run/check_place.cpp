#include "backends/cuda/run/check_place.hpp"

#include <fmt/format.h>

#include <string>

#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {

void check_place(std::string_view matrix, const void* pointer, std::optional<int> device,
                 std::string_view memory) {
  if (pointer == nullptr)
    throw fault_of(fmt::format("matrix {}", matrix), "is not given to the CUDA backend");
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, pointer), "asking where a matrix lies");
  if (attributes.type == cudaMemoryTypeManaged) return;
  const auto found = attributes.type == cudaMemoryTypeDevice
                         ? std::optional{attributes.device}
                         : std::nullopt;
  if (found == device) return;
  const std::string where =
      found ? fmt::format("on CUDA device {}", *found) : "on the host";
  throw InputError{fmt::format("matrix {}", matrix), where, "is not its place",
                   fmt::format("it in {}", memory)};
}

}  // namespace tilerail::cuda
