#include "model/kernels/gemm_parts.hpp"

#include <algorithm>

namespace tilerail {
namespace {

/// From this size on, aligned loads save more than thin kernels cost: 2048^3, or an
/// eighth of it for half precision, which suffers more from slow loads.
bool large_enough(DType dtype, double m, double n, double k) {
  const double side = element_size(dtype) == 2 ? 1024 : 2048;
  return m * n * k >= side * side * side;
}

bool on_tensor_cores(DType dtype) { return dtype != DType::f32; }

/// Whether k or n is the length of a column: k of A^T or B, n of B^T. m always is,
/// because of C.
bool k_along_columns(Trans trans_a, Trans trans_b) {
  return trans_a == Trans::yes || trans_b == Trans::no;
}
bool n_along_columns(Trans trans_b) { return trans_b == Trans::yes; }

struct Cut {
  int64_t begin, size;
};

/// Cuts an extent into whole words and a rest; one piece if `wanted` is false or the rest
/// is empty.
boost::container::static_vector<Cut, 2> cuts(int64_t extent, int64_t word, bool wanted) {
  const int64_t rest = wanted ? extent % word : 0;
  if (rest == 0) return {{0, extent}};
  return {{0, extent - rest}, {extent - rest, rest}};
}

}  // namespace

int64_t column_alignment(DType dtype, Trans trans_a, Trans trans_b, int64_t m, int64_t n,
                         int64_t k) {
  int64_t lengths = m;
  if (k_along_columns(trans_a, trans_b)) lengths |= k;
  if (n_along_columns(trans_b)) lengths |= n;
  lengths *= element_size(dtype);
  return on_tensor_cores(dtype) && lengths % loaded_word != 0 ? lengths & -lengths
                                                              : most_alignment;
}

GemmParts gemm_parts(DType dtype, Trans trans_a, Trans trans_b, int64_t m, int64_t n,
                     int64_t k) {
  const int64_t word = loaded_word / element_size(dtype);
  const bool cut = on_tensor_cores(dtype) && std::min({m, n, k}) >= 8 * word &&
                   large_enough(dtype, double(m), double(n), double(k));
  GemmParts parts;
  for (const auto& [k0, part_k] : cuts(k, word, cut && k_along_columns(trans_a, trans_b)))
    for (const auto& [m0, part_m] : cuts(m, word, cut))
      for (const auto& [n0, part_n] : cuts(n, word, cut && n_along_columns(trans_b)))
        parts.push_back({m0, part_m, n0, part_n, k0, part_k});
  return parts;
}

}  // namespace tilerail
