#include "plan/op_kinds.hpp"

#include "model/base/indices.hpp"
#include "plan/plan.hpp"

namespace tilerail {
namespace {

Flops product(int64_t m, int64_t n, int64_t k, double factor = 1) {
  return Flops{factor * double(m) * double(n) * double(k)};
}

/// m n k multiplications and additions.
Flops gemm_flops(const Op& op) {
  const int64_t k = op.trans_a == Trans::no ? op.a.cols : op.a.rows;
  return product(op.y.rows, op.y.cols, k, 2);
}
/// One per element read: a multiplication, and an addition if there are two terms.
Flops axpby_flops(const Op& op) {
  return product(op.y.rows, op.y.cols, int(reads_a(op)) + int(reads_y(op)));
}
/// The leading term of n^3 / 3 + n^2 / 2 + n / 6.
Flops potrf_flops(const Op& op) { return product(op.y.rows, op.y.rows, op.y.cols) / 3; }
Flops trsm_flops(const Op& op) { return product(op.y.rows, op.y.cols, op.y.cols); }
/// One triangle of the product.
Flops syrk_flops(const Op& op) { return product(op.y.rows, op.y.cols, op.a.cols); }

using enum Access;
constexpr std::array<OpKindInfo, op_kind_count> table{{
    // name    a                 b     y                   scalars trans  backend flops
    {"copy", read, none, write, false, false, true, nullptr},
    {"gemm", read, read, update_unless_zero, true, true, true, gemm_flops},
    {"axpby", read_unless_zero, none, update_unless_zero, true, false, true, axpby_flops},
    {"join", none, none, none, false, false, true, nullptr},
    {"potrf", none, none, update, false, false, false, potrf_flops},
    {"trsm", read, none, update, false, false, false, trsm_flops},
    {"syrk", read, none, update, false, false, false, syrk_flops},
}};

}  // namespace

const OpKindInfo& info(OpKind kind) { return table[size_t(kind)]; }

std::array<OpKind, op_kind_count> all_op_kinds() {
  std::array<OpKind, op_kind_count> kinds{};
  for (const auto i : indices(kinds)) kinds[i] = static_cast<OpKind>(i);
  return kinds;
}

bool reads_a(const Op& op) {
  const Access a = info(op.kind).a;
  return a == read || (a == read_unless_zero && op.alpha != Scalar::zero);
}

bool reads_b(const Op& op) { return info(op.kind).b == read; }

bool reads_y(const Op& op) {
  const Access y = info(op.kind).y;
  return y == update || (y == update_unless_zero && op.beta != Scalar::zero);
}

Flops op_flops(const Op& op) {
  return is_kernel(op.kind) ? info(op.kind).flops(op) : Flops{0};
}

}  // namespace tilerail
