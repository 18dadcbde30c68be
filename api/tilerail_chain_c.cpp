#include <fmt/format.h>

#include <functional>
#include <string>

#include "api/c_calls.hpp"
#include "api/session.hpp"
#include "model/base/error.hpp"
#include "tilerail/tilerail.h"

using tilerail::Context;
using tilerail::DType;
using tilerail::InputError;
using tilerail::api::ChainArguments;

namespace {

struct Arrays {
  const char* trans;
  const int64_t *rows, *cols;
  const void* const* factors;
  const int64_t* ld;
};

void add_factors(ChainArguments& chain, int count, const Arrays& arrays) {
  if (count < 0) throw InputError{fmt::format("count = {}: expected the number of factors", count)};
  const auto check = [&](const void* array, const char* name) {
    if (array == nullptr && count > 0) throw InputError{fmt::format("{} is null: expected {} values", name, count)};
  };
  check(arrays.trans, "trans"), check(arrays.rows, "rows"), check(arrays.cols, "cols");
  check(arrays.factors, "factors"), check(arrays.ld, "ld");
  for (int i = 0; i < count; ++i)
    chain.factors.push_back({arrays.trans[i], arrays.rows[i], arrays.cols[i], arrays.factors[i], arrays.ld[i]});
}

/// "(A (B C)): B C to gpu0, A (B C) to host".
std::string text_of(const tilerail::ChainInfo& info) {
  if (info.products.empty()) return "there was nothing to multiply";
  std::string text = info.order;
  for (const tilerail::ChainInfo::Product& product : info.products)
    text += fmt::format("{} {} to {}", &product == &info.products.front() ? ":" : ",", product.factors, product.place);
  return text;
}

}  // namespace

tilerail_status_t tilerail_gemm_chain(tilerail_handle_t handle, tilerail_dtype_t dtype, int count, const char* trans,
                                      const int64_t* rows, const int64_t* cols, const void* const* factors,
                                      const int64_t* ld, double alpha, double beta, void* R, int64_t ldr,
                                      void* stream) {
  const auto multiply = [&](Context& context) {
    ChainArguments chain{tilerail::api::checked_dtype(dtype), {}, alpha, beta, R, ldr};
    if (chain.dtype != DType::f64)  // all others compute with f32 scalars
      chain.alpha = static_cast<float>(alpha), chain.beta = static_cast<float>(beta);
    add_factors(chain, count, {trans, rows, cols, factors, ld});
    tilerail::ChainInfo info;
    context.session().gemm_chain(chain, stream, &info);
    tilerail::api::tell_origin(handle, text_of(info));
  };
  return tilerail::api::guarded_call(handle,
                                     std::cref(multiply));  // which allocates nothing, so that nothing is thrown
}
