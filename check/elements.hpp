#pragma once

#include <Eigen/Core>

#include "model/problem.hpp"

namespace tilerail {

/// Calls `use` with a zero of the type that stores elements of this dtype.
template <class Use>
auto with_element(DType dtype, const Use& use) {
  switch (dtype) {
    case DType::f64:
      return use(double{});
    case DType::f16:
      return use(Eigen::half{});
    case DType::bf16:
      return use(Eigen::bfloat16{});
    default:
      return use(float{});
  }
}

}  // namespace tilerail
