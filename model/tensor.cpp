#include "model/tensor.hpp"

#include <algorithm>

#include "model/base/contains.hpp"

namespace tilerail {
namespace {

std::vector<Tensor> tensors(const GemmProblem& p) {
  using enum Tensor::Use;
  return {{"A", p.rows_a(), p.cols_a(), p.lda, p.dtype, p.place_a, input},
          {"B", p.rows_b(), p.cols_b(), p.ldb, p.dtype, p.place_b, input},
          {"C", p.m, p.n, p.ldc, p.dtype, p.place_c, p.beta == 0 ? output : in_out}};
}

std::vector<Tensor> tensors(const FactorProblem& p) {
  using enum Tensor::Use;
  std::vector<Tensor> all{{"A", p.m, p.n, p.ld, p.dtype, p.place, in_out}};
  if (p.kind == FactorProblem::Kind::geqrf)
    all.push_back({"T", p.m, p.n, std::max<int64_t>(1, p.m), p.dtype, p.place, output});
  return all;
}

}  // namespace

std::vector<Tensor> tensors_of(const Problem& problem) {
  return std::visit([](const auto& p) { return tensors(p); }, problem);
}

std::vector<MemoryId> homes_of(const Problem& problem) {
  std::vector<MemoryId> homes;
  for (const Tensor& tensor : tensors_of(problem))
    for (const MemoryId home : tensor.layout.members())
      if (!tensor.layout.is_replicated() && !contains(homes, home)) homes.push_back(home);
  return homes;
}

}  // namespace tilerail
