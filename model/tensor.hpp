#pragma once

#include <string>
#include <vector>

#include "model/problem.hpp"

namespace tilerail {

/// A matrix of a problem, column-major, with an address from the user or, as scratch,
/// without one.
struct Tensor {
  enum class Use : uint8_t { input, output, in_out, scratch };
  std::string name;                    // in plan files, labels and messages
  int64_t rows = 0, cols = 0, ld = 0;  // elements
  DType dtype = DType::f64;
  Layout layout = {};
  Use use = Use::input;

  int64_t element() const { return element_size(dtype); }  // bytes
  /// Bytes from the first to the last element.
  double bytes() const {
    if (rows == 0 || cols == 0) return 0;
    return (double(cols - 1) * double(ld) + double(rows)) * double(element());
  }
};

/// The tensors of every GEMM. B of a routine without B is empty.
inline constexpr TensorId tensor_a{0}, tensor_b{1}, tensor_c{2};

/// By TensorId.
std::vector<Tensor> tensors_of(const Problem& problem);

/// The memories that hold parts of the tensors, in their order, each once; a replicated
/// tensor has no home.
std::vector<MemoryId> homes_of(const Problem& problem);

}  // namespace tilerail
