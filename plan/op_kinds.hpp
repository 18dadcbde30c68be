#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "model/base/units.hpp"

namespace tilerail {

struct Op;

enum class OpKind : uint8_t {
  copy,   // y = a, between memories or within one
  gemm,   // y = alpha op(a) op(b) + beta y
  axpby,  // y = alpha a + beta y
  join,   // no work: ends when all its dependencies have ended
  potrf,  // y = L of y = L L^T
  trsm,   // y = y a^-T, a lower triangular
  syrk,   // y = y - a a^T
};

/// Access of an operation to its view `a`, `b` or `y`.
enum class Access : uint8_t {
  none,
  read,
  read_unless_zero,  // unless its scalar is zero
  write,
  update,              // reads and writes
  update_unless_zero,  // writes only where beta is zero
};

/// Properties of a kind of operations: one row of the table in op_kinds.cpp. To add a
/// kind: CONTRIBUTING.md#to-add-a-kind-of-kernel
struct OpKindInfo {
  std::string_view name;
  Access a, b, y;
  bool has_scalars, has_trans;  // whether alpha and beta, trans_a and trans_b are used
  bool any_backend;  // whether host and CUDA run it; false: plan and simulation only
  Flops (*flops)(const Op&);

  bool is_kernel() const { return flops != nullptr; }
};

inline constexpr size_t op_kind_count = size_t(OpKind::syrk) + 1;  // the last
const OpKindInfo& info(OpKind kind);

/// All kinds, in order.
std::array<OpKind, op_kind_count> all_op_kinds();
inline std::string_view to_string(OpKind kind) { return info(kind).name; }
/// Kernels keep a device busy; the other kinds are copies and joins.
inline bool is_kernel(OpKind kind) { return info(kind).is_kernel(); }

/// Views that an operation reads and writes, its scalars considered.
bool reads_a(const Op& op);
bool reads_b(const Op& op);
bool reads_y(const Op& op);

/// Floating-point operations of a kernel (multiplications and additions count
/// separately); 0 if the operation is not a kernel.
Flops op_flops(const Op& op);

}  // namespace tilerail
