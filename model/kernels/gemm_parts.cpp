#include "model/kernels/gemm_parts.hpp"

#include <algorithm>

namespace tilerail {
namespace {

/// From this size on, whole words gain more than thin kernels cost: 2048^3, or an eighth of it for halves, whose loads
/// get slower by more.
bool large_enough(DType dtype, double m, double n, double k) {
  const double side = element_size(dtype) == 2 ? 1024 : 2048;
  return m * n * k >= side * side * side;
}

bool on_tensor_cores(DType dtype) { return dtype != DType::f32; }

/// Which sizes are lengths of columns. m always is, that of C's; k is that of A^T's or B's, n that of B^T's.
bool k_along_columns(Trans trans_a, Trans trans_b) { return trans_a == Trans::yes || trans_b == Trans::no; }
bool n_along_columns(Trans trans_b) { return trans_b == Trans::yes; }

struct Cut {
  int64_t begin, size;
};

/// Cuts an extent into its whole words and the rest; one piece where no cut is wanted or nothing is left over.
std::span<const Cut> cuts(int64_t extent, int64_t word, bool wanted, std::array<Cut, 2>& storage) {
  const int64_t rest = wanted ? extent % word : 0;
  storage = {Cut{0, extent - rest}, Cut{extent - rest, rest}};
  return {storage.data(), rest > 0 ? 2u : 1u};
}

}  // namespace

int64_t column_alignment(DType dtype, Trans trans_a, Trans trans_b, int64_t m, int64_t n, int64_t k) {
  int64_t lengths = m;
  if (k_along_columns(trans_a, trans_b)) lengths |= k;
  if (n_along_columns(trans_b)) lengths |= n;
  lengths *= element_size(dtype);
  return on_tensor_cores(dtype) && lengths % loaded_word != 0 ? lengths & -lengths : most_alignment;
}

GemmParts::GemmParts(DType dtype, Trans trans_a, Trans trans_b, int64_t m, int64_t n, int64_t k) {
  const int64_t word = loaded_word / element_size(dtype);
  const bool cut =
      on_tensor_cores(dtype) && std::min({m, n, k}) >= 8 * word && large_enough(dtype, double(m), double(n), double(k));
  std::array<Cut, 2> ms, ns, ks;
  for (const Cut k_cut : cuts(k, word, cut && k_along_columns(trans_a, trans_b), ks))
    for (const Cut m_cut : cuts(m, word, cut, ms))
      for (const Cut n_cut : cuts(n, word, cut && n_along_columns(trans_b), ns))
        parts_[count_++] = {m_cut.begin, m_cut.size, n_cut.begin, n_cut.size, k_cut.begin, k_cut.size};
}

}  // namespace tilerail
