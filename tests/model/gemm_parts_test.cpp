#include "model/kernels/gemm_parts.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tilerail {
namespace {

constexpr Trans N = Trans::no, T = Trans::yes;

std::vector<GemmPart> parts(DType dtype, Trans ta, Trans tb, int64_t m, int64_t n,
                            int64_t k) {
  const GemmParts cut = gemm_parts(dtype, ta, tb, m, n, k);
  return {cut.begin(), cut.end()};
}

TEST(GemmParts, WholeWordsAreOnePart) {
  for (const DType dtype : {DType::f64, DType::f32, DType::tf32, DType::f16, DType::bf16})
    EXPECT_EQ(parts(dtype, N, N, 4096, 4096, 4096),
              (std::vector<GemmPart>{{0, 4096, 0, 4096, 0, 4096}}));
}

TEST(GemmParts, RemaindersAlongColumnsAreSeparateParts) {
  // Along columns: m of A and C, k of B.
  EXPECT_EQ(
      parts(DType::f64, N, N, 4097, 4097, 4096),
      (std::vector<GemmPart>{{0, 4096, 0, 4097, 0, 4096}, {4096, 1, 0, 4097, 0, 4096}}));
  EXPECT_EQ(
      parts(DType::f16, N, N, 4096, 4097, 4101),
      (std::vector<GemmPart>{{0, 4096, 0, 4097, 0, 4096}, {0, 4096, 0, 4097, 4096, 5}}));
  // A and B transposed: k of A, n of B, m of C.
  EXPECT_EQ(parts(DType::f64, T, T, 4097, 4097, 4097).size(), 8u);
  EXPECT_EQ(parts(DType::f64, N, T, 4096, 4096, 4097).size(), 1u)
      << "k runs along no column";
  EXPECT_EQ(parts(DType::f64, N, T, 4096, 4097, 4096).size(), 2u);
  EXPECT_EQ(parts(DType::f64, T, N, 4096, 4097, 4097).size(), 2u);
}

TEST(GemmParts, SmallThinAndNonTensorCoreProductsStayWhole) {
  EXPECT_EQ(parts(DType::f64, N, N, 1001, 1001, 1001).size(), 1u);
  EXPECT_EQ(parts(DType::f16, N, N, 1025, 1025, 1025).size(), 4u);
  EXPECT_EQ(parts(DType::f64, N, N, 7, 100001, 100001).size(), 1u);
  EXPECT_EQ(parts(DType::f32, N, N, 4097, 4097, 4097).size(), 1u);
  EXPECT_EQ(parts(DType::tf32, N, N, 4097, 4097, 4097).size(), 4u);
  EXPECT_EQ(parts(DType::f64, N, N, 0, 0, 0).size(), 1u);
}

TEST(ColumnAlignment, FollowsTheLeastAlignedColumns) {
  const auto bytes = [](DType dtype, Trans ta, Trans tb, int64_t m, int64_t n,
                        int64_t k) { return column_alignment(dtype, ta, tb, m, n, k); };
  EXPECT_EQ(bytes(DType::f64, N, N, 10, 11, 12),
            most_alignment);  // n is not the length of a column
  EXPECT_EQ(bytes(DType::f64, N, N, 10, 10, 11), 8);
  EXPECT_EQ(bytes(DType::f64, N, T, 10, 10, 11), most_alignment);  // nor is k
  EXPECT_EQ(bytes(DType::f64, N, T, 10, 11, 10), 8);
  EXPECT_EQ(bytes(DType::f16, T, T, 16, 12, 16), 8);
  EXPECT_EQ(bytes(DType::f16, T, T, 16, 16, 14), 4);
  EXPECT_EQ(bytes(DType::bf16, T, N, 13, 16, 16), 2);
  EXPECT_EQ(bytes(DType::f32, N, N, 13, 13, 13), most_alignment);
}

TEST(GemmParts, CoverEverythingOnceAndAddInOrderOfK) {
  for (const Trans ta : {N, T})
    for (const Trans tb : {N, T}) {
      int64_t volume = 0, last_k = 0;
      for (const GemmPart& p : parts(DType::bf16, ta, tb, 2051, 2052, 2053)) {
        EXPECT_GE(p.k0, last_k);
        last_k = p.k0;
        volume += p.m * p.n * p.k;
        EXPECT_TRUE(p.m0 == 0 || p.m0 + p.m == 2051);
        EXPECT_TRUE(p.n0 == 0 || p.n0 + p.n == 2052);
        EXPECT_TRUE(p.k0 == 0 || p.k0 + p.k == 2053);
      }
      EXPECT_EQ(volume, int64_t{2051} * 2052 * 2053);
    }
}

}  // namespace
}  // namespace tilerail
