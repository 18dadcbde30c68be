#pragma once

#include <cstdint>
#include <vector>

#include "api/arguments.hpp"
#include "api/hardware.hpp"
#include "sched/chain/chain_problem.hpp"

namespace tilerail::api {

/// A factor of a chain as its caller gave it: `rows` x `cols` as it is stored.
struct ChainInput {
  char trans = 'N';
  std::int64_t rows = 0, cols = 0;
  const void* data = nullptr;
  std::int64_t ld = 0;
};

/// R = alpha op(A) op(B) op(C) ... + beta R.
struct ChainArguments {
  DType dtype = DType::f64;
  std::vector<ChainInput> factors;
  double alpha = 1, beta = 0;
  void* result = nullptr;
  std::int64_t ld = 0;  // of the result
};

/// The chain without places. Throws InputError naming the factor or the result; matrices that are not read, or have no
/// elements, may be null. Touches no memory and no device.
ChainProblem problem_of(const ChainArguments& arguments);

/// Whether the factors are not read: R = beta R.
bool scales_only(const ChainProblem& chain);
/// The call that does that.
GemmArguments scaling(const ChainArguments& arguments, const ChainProblem& chain);

/// The factors, then the result. `chain` is the problem of the arguments.
std::vector<Matrix> matrices_of(const ChainArguments& arguments, const ChainProblem& chain);

}  // namespace tilerail::api
