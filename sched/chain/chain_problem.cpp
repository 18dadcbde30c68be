#include "sched/chain/chain_problem.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/error.hpp"
#include "model/base/extents.hpp"
#include "sched/tasks/arena.hpp"

namespace tilerail {
namespace {

char letter(std::size_t factor) { return static_cast<char>('A' + factor); }

void check_factor(ChainFactor& factor, const std::string& name, DType dtype) {
  for (const std::int64_t extent : {factor.rows, factor.cols})
    if (extent < 0 || extent > most_extent)
      throw InputError{
          fmt::format("{}: {} x {} elements; expected extents of 0 to 2^40", name, factor.rows, factor.cols)};
  const std::int64_t least = std::max<std::int64_t>(1, factor.rows);
  if (factor.ld == 0) factor.ld = least;
  if (factor.ld < least || factor.ld > most_extent)
    throw InputError{fmt::format("{}: ld = {}: expected {} (the stored rows) to 2^40", name, factor.ld, least)};
  if (factor.cols > 0 && factor.ld > most_matrix_bytes / element_size(dtype) / factor.cols)
    throw InputError{
        fmt::format("{}: ld = {} times {} columns: expected at most 2^60 bytes", name, factor.ld, factor.cols)};
}

}  // namespace

std::string factor_text(std::size_t factor) { return fmt::format("factor {} ({})", factor + 1, letter(factor)); }

ChainProblem checked(ChainProblem chain) {
  const std::size_t count = chain.factors.size();
  if (count < least_factors || count > most_factors)
    throw InputError{fmt::format("{} factors: expected {} to {}", count, least_factors, most_factors)};
  for (std::size_t i = 0; i < count; ++i) check_factor(chain.factors[i], factor_text(i), chain.dtype);
  for (std::size_t i = 1; i < count; ++i)
    if (chain.factors[i].op_rows() != chain.factors[i - 1].op_cols())
      throw InputError{fmt::format("{}: op({}) has {} rows; expected {}, the columns of op({})", factor_text(i),
                                   letter(i), chain.factors[i].op_rows(), chain.factors[i - 1].op_cols(),
                                   letter(i - 1))};
  ChainFactor result{chain.rows(), chain.cols(), chain.ld, Trans::no, chain.place};
  check_factor(result, "the result", chain.dtype);
  chain.ld = result.ld;
  return chain;
}

std::int64_t intermediate_ld(const ChainProblem& chain, const ChainSpan& span) {
  return Arena::leading(chain.factors[span.first].op_rows(), element_size(chain.dtype));
}

std::int64_t intermediate_bytes(const ChainProblem& chain, const ChainSpan& span) {
  return intermediate_ld(chain, span) * chain.factors[span.last].op_cols() * element_size(chain.dtype);
}

GemmProblem problem_of(const ChainProblem& chain, const ChainProduct& product, MemoryId left, MemoryId right,
                       MemoryId result) {
  const auto operand = [&](const ChainSpan& span) {
    if (span.is_factor()) return chain.factors[span.first];
    return ChainFactor{0, 0, intermediate_ld(chain, span), Trans::no, {}};
  };
  const ChainFactor a = operand(product.left()), b = operand(product.right());
  const bool is_last = product.first == 0 && product.last + 1 == chain.factors.size();
  GemmProblem p;
  p.m = chain.factors[product.first].op_rows(), p.n = chain.factors[product.last].op_cols();
  p.k = chain.factors[product.split].op_cols();
  p.dtype = chain.dtype;
  p.trans_a = a.trans, p.trans_b = b.trans;
  p.alpha = is_last ? chain.alpha : 1, p.beta = is_last ? chain.beta : 0;
  p.place_a = left, p.place_b = right, p.place_c = result;
  p.lda = a.ld, p.ldb = b.ld, p.ldc = is_last ? chain.ld : intermediate_ld(chain, product.whole());
  return p;
}

}  // namespace tilerail
