#include "backends/cuda/run/check_place.hpp"

#include <fmt/format.h>

#include <string>

#include "backends/cuda/run/cuda_check.hpp"

namespace tilerail::cuda {

void check_place(char matrix, const void* pointer, int device, std::string_view memory) {
  if (pointer == nullptr)
    throw InputError{fmt::format("matrix {} of the plan was not given to the CUDA backend", matrix)};
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, pointer), "asking where a matrix lies");
  if (attributes.type == cudaMemoryTypeManaged) return;
  const int found = attributes.type == cudaMemoryTypeDevice ? attributes.device : -1;
  if (found == device) return;
  const std::string where = found < 0 ? "on the host" : fmt::format("on CUDA device {}", found);
  throw InputError{fmt::format("matrix {} lies {}; the plan expects it in {}", matrix, where, memory)};
}

}  // namespace tilerail::cuda
