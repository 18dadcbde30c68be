#include "plan/op_kinds.hpp"

#include "model/base/indices.hpp"
#include "plan/plan.hpp"

namespace tilerail {
namespace {

Flops product(int64_t m, int64_t n, int64_t k, double factor = 1) {
  return Flops{factor * double(m) * double(n) * double(k)};
}

/// m n k multiplications and additions.
Flops gemm_flops(const Op& op, Views of) {
  return product(of[2].rows, of[2].cols, gemm_depth(op, of), 2);
}
/// One per element read: a multiplication, and an addition if there are two terms.
Flops axpby_flops(const Op& op, Views of) {
  return product(of[1].rows, of[1].cols, int(reads(op, 0)) + int(reads(op, 1)));
}
/// The leading term of n^3 / 3 + n^2 / 2 + n / 6.
Flops potrf_flops(const Op& /*op*/, Views of) {
  return product(of[0].rows, of[0].rows, of[0].cols) / 3;
}
Flops trsm_flops(const Op& /*op*/, Views of) {
  return product(of[1].rows, of[1].cols, of[1].cols);
}
/// One triangle of the product.
Flops syrk_flops(const Op& /*op*/, Views of) {
  return product(of[1].rows, of[1].cols, of[0].cols);
}

using enum Access;
constexpr OperandInfo a{"a", read}, b{"b", read}, y{"y", update},
    y_beta{"y", update_unless_zero};
constexpr OperandInfo of_copy[]{a, {"y", write}}, of_gemm[]{a, b, y_beta},
    of_axpby[]{{"a", read_unless_zero}, y_beta}, of_potrf[]{y}, of_update[]{a, y};

constexpr std::array<OpKindInfo, op_kind_count> table{{
    // name, operands, scalars, trans, backend, flops
    {"copy", of_copy, false, false, true, nullptr},
    {"gemm", of_gemm, true, true, true, gemm_flops},
    {"axpby", of_axpby, true, false, true, axpby_flops},
    {"join", {}, false, false, true, nullptr},
    {"potrf", of_potrf, false, false, false, potrf_flops},
    {"trsm", of_update, false, false, false, trsm_flops},
    {"syrk", of_update, false, false, false, syrk_flops},
}};

}  // namespace

const OpKindInfo& info(OpKind kind) { return table[size_t(kind)]; }

std::array<OpKind, op_kind_count> all_op_kinds() {
  std::array<OpKind, op_kind_count> kinds{};
  for (const auto i : indices(kinds)) kinds[i] = static_cast<OpKind>(i);
  return kinds;
}

bool reads(const Op& op, size_t i) {
  const Access access = info(op.kind).operands[i].access;
  return access == read || access == update ||
         (access == read_unless_zero && op.alpha != Scalar::zero) ||
         (access == update_unless_zero && op.beta != Scalar::zero);
}

bool writes(OpKind kind, size_t i) { return info(kind).operands[i].access >= write; }

int64_t gemm_depth(const Op& op, Views operands) {
  return op.trans_a == Trans::no ? operands[0].cols : operands[0].rows;
}

Flops op_flops(const Op& op, Views operands) {
  return is_kernel(op.kind) ? info(op.kind).flops(op, operands) : Flops{0};
}

}  // namespace tilerail
