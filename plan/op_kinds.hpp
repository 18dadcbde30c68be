#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "model/base/units.hpp"
#include "plan/view.hpp"

namespace tilerail {

struct Op;

enum class OpKind : uint8_t {
  copy,   // y = a, between memories or within one
  gemm,   // y = alpha op(a) op(b) + beta y
  axpby,  // y = alpha a + beta y
  join,   // no work: ends when all its dependencies have ended
  potrf,  // y = L of y = L L^T
  trsm,   // y = y a^-T, a lower triangular
  syrk,   // y = y - a a^T, lower triangle
  // Tiled QR with LAPACK's block reflectors Q = I - [..] T [..]^T, t.rows of them in a T:
  geqrt,  // t, y = T, V, R of y = Q R
  ormqr,  // y = Q^T y, Q of v, t from geqrt
  tsqrt,  // t, r, y = T, R, V of [r; y] = Q R, r upper triangular
  tsmqr,  // [r; y] = Q^T [r; y], Q of v, t from tsqrt
};

/// Access of an operation to an operand.
enum class Access : uint8_t {
  read,
  read_unless_zero,    // unless alpha is zero
  write,               // the first that writes
  update,              // reads and writes
  update_unless_zero,  // writes only where beta is zero
};

struct OperandInfo {
  const char* name;  // in plan files and messages
  Access access;
};

/// Properties of a kind of operations: one row of the table in op_kinds.cpp. To add a
/// kind: CONTRIBUTING.md#to-add-a-kind-of-kernel
struct OpKindInfo {
  std::string_view name;
  std::span<const OperandInfo> operands;  // those only read first, the result last
  bool has_scalars, has_trans;  // whether alpha and beta, trans_a and trans_b are used
  bool on_cuda;                 // whether CUDA runs it, as the host backend does
  Flops (*flops)(const Op&, Views operands);
};

inline constexpr size_t op_kind_count = size_t(OpKind::tsmqr) + 1;  // the last
extern const std::array<OpKindInfo, op_kind_count> op_kind_infos;
inline const OpKindInfo& info(OpKind kind) { return op_kind_infos[size_t(kind)]; }

/// All kinds, in order.
std::array<OpKind, op_kind_count> all_op_kinds();
inline std::string_view to_string(OpKind kind) { return info(kind).name; }
/// Kernels keep a device busy; the other kinds are copies and joins.
inline bool is_kernel(OpKind kind) { return info(kind).flops != nullptr; }
/// The number of a kernel of factorisations, from potrf on: its index in `tile_kernels`
/// and in check/factor_kernels.hpp. Absent: a kind before potrf.
constexpr std::optional<size_t> tile_kernel(OpKind kind) {
  if (kind < OpKind::potrf) return std::nullopt;
  return size_t(kind) - size_t(OpKind::potrf);
}

/// Whether an operation reads its operand `i`, its scalars considered.
bool reads(const Op& op, size_t i);
bool writes(OpKind kind, size_t i);

/// The columns of op(A) of a gemm with these operands.
int64_t gemm_depth(const Op& op, Views operands);

/// Floating-point operations of a kernel (multiplications and additions count
/// separately); 0 if the operation is not a kernel.
Flops op_flops(const Op& op, Views operands);

}  // namespace tilerail
