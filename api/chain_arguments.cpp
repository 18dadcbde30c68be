#include "api/chain_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "model/base/error.hpp"

namespace tilerail::api {
namespace {

constexpr const char* the_result = "the result";

Trans trans_of(const ChainInput& factor, const std::string& name) {
  switch (factor.trans) {
    case 'N':
    case 'n':
      return Trans::no;
    case 'T':
    case 't':
    case 'C':
    case 'c':
      return Trans::yes;
  }
  throw InputError{fmt::format("{}: trans is character {}: expected 'N', 'T' or 'C'", name, int{factor.trans})};
}

/// 0 is no leading dimension of a matrix in memory.
void check_ld(std::int64_t ld, const std::string& name) {
  if (ld < 1) throw InputError{fmt::format("{}: ld = {}: expected at least 1", name, ld)};
}

void check_data(const void* data, DType dtype, const std::string& name) {
  if (data == nullptr) throw InputError{fmt::format("{}: the address is null: expected a matrix", name)};
  if (reinterpret_cast<std::uintptr_t>(data) % static_cast<std::uintptr_t>(element_size(dtype)) != 0)
    throw InputError{
        fmt::format("{}: the address is not aligned: expected a multiple of {} bytes", name, element_size(dtype))};
}

}  // namespace

ChainProblem problem_of(const ChainArguments& x) {
  ChainProblem chain{{}, x.dtype, {}, x.ld, x.alpha, x.beta};
  for (std::size_t i = 0; i < x.factors.size(); ++i) {
    const ChainInput& factor = x.factors[i];
    check_ld(factor.ld, factor_text(i));
    chain.factors.push_back({factor.rows, factor.cols, factor.ld, trans_of(factor, factor_text(i)), {}});
  }
  check_ld(x.ld, the_result);
  chain = checked(std::move(chain));
  if (chain.rows() == 0 || chain.cols() == 0) return chain;
  if (!scales_only(chain))
    for (std::size_t i = 0; i < x.factors.size(); ++i) check_data(x.factors[i].data, x.dtype, factor_text(i));
  check_data(x.result, x.dtype, the_result);
  return chain;
}

bool scales_only(const ChainProblem& chain) {
  return chain.alpha == 0 || std::ranges::any_of(chain.factors, [](const ChainFactor& f) { return f.op_cols() == 0; });
}

GemmArguments scaling(const ChainArguments& x, const ChainProblem& chain) {
  GemmArguments call;
  call.dtype = x.dtype;
  call.m = chain.rows(), call.n = chain.cols();
  call.lda = chain.rows(), call.ldb = 1;
  call.alpha = 0, call.beta = x.beta;
  call.c = x.result, call.ldc = x.ld;
  return call;
}

std::vector<Matrix> matrices_of(const ChainArguments& x, const ChainProblem& chain) {
  const std::int64_t element = element_size(x.dtype);
  std::vector<Matrix> matrices;
  for (const ChainInput& factor : x.factors)
    matrices.push_back({const_cast<void*>(factor.data), factor.rows, factor.cols, factor.ld, element, true, false});
  matrices.push_back({x.result, chain.rows(), chain.cols(), x.ld, element, x.beta != 0, true});
  return matrices;
}

}  // namespace tilerail::api
