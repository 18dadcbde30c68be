#include "plan/op_kinds.hpp"

#include <algorithm>

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

/// 4 (m - x) (n - x) summed over min(m, n) reflectors x.
Flops geqrt_flops(const Op& /*op*/, Views of) {
  const auto s = double(std::min(of[1].rows, of[1].cols)),
             l = double(std::max(of[1].rows, of[1].cols));
  return Flops{2 * s * s * (l - s / 3)};
}
/// 4 (rows - x) flops for each column and reflector x.
Flops ormqr_flops(const Op& /*op*/, Views of) {
  return product(of[2].cols, of[1].cols, 2 * of[2].rows - of[1].cols, 2);
}
Flops tsqrt_flops(const Op& /*op*/, Views of) {
  return product(of[2].rows, of[2].cols, of[2].cols, 2);
}
Flops tsmqr_flops(const Op& /*op*/, Views of) {
  return product(of[3].rows, of[3].cols, of[1].cols, 4);
}

using enum Access;
constexpr OperandInfo a{"a", read}, b{"b", read}, y{"y", update},
    y_beta{"y", update_unless_zero};
constexpr OperandInfo of_copy[]{a, {"y", write}}, of_gemm[]{a, b, y_beta},
    of_axpby[]{{"a", read_unless_zero}, y_beta}, of_potrf[]{y}, of_update[]{a, y},
    of_geqrt[]{{"t", write}, y}, of_ormqr[]{{"v", read}, {"t", read}, y},
    of_tsqrt[]{{"t", write}, {"r", update}, y},
    of_tsmqr[]{{"v", read}, {"t", read}, {"r", update}, y};

}  // namespace

constinit const std::array<OpKindInfo, op_kind_count> op_kind_infos{{
    // name, operands, scalars, trans, CUDA, flops
    {"copy", of_copy, false, false, true, nullptr},
    {"gemm", of_gemm, true, true, true, gemm_flops},
    {"axpby", of_axpby, true, false, true, axpby_flops},
    {"join", {}, false, false, true, nullptr},
    {"potrf", of_potrf, false, false, false, potrf_flops},
    {"trsm", of_update, false, false, false, trsm_flops},
    {"syrk", of_update, false, false, false, syrk_flops},
    {"geqrt", of_geqrt, false, false, false, geqrt_flops},
    {"ormqr", of_ormqr, false, false, false, ormqr_flops},
    {"tsqrt", of_tsqrt, false, false, false, tsqrt_flops},
    {"tsmqr", of_tsmqr, false, false, false, tsmqr_flops},
}};

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
