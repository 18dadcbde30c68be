#include "model/problem.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include <limits>

#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

GemmProblem three_by_four_by_five() {
  GemmProblem p;
  p.m = 3;
  p.n = 4;
  p.k = 5;
  return p;
}

TEST(GemmProblem, LeadingDimensionsDefaultToTheStoredRows) {
  GemmProblem p = three_by_four_by_five();
  EXPECT_EQ(checked(p).lda, 3);  // A is m x k
  EXPECT_EQ(checked(p).ldb, 5);  // B is k x n
  EXPECT_EQ(checked(p).ldc, 3);
  p.trans_a = p.trans_b = Trans::yes;
  EXPECT_EQ(checked(p).lda, 5);  // k x m
  EXPECT_EQ(checked(p).ldb, 4);  // n x k
}

TEST(GemmProblem, AnEmptyMatrixHasLeadingDimensionOne) {
  const GemmProblem p = checked(GemmProblem{});
  EXPECT_EQ(p.lda, 1);
  EXPECT_EQ(p.ldb, 1);
  EXPECT_EQ(p.ldc, 1);
}

TEST(GemmProblem, MinusZeroIsZero) {
  GemmProblem p;
  p.m = p.n = p.k = 1;
  p.alpha = p.beta = -0.0;
  EXPECT_FALSE(std::signbit(checked(p).alpha));
  EXPECT_FALSE(std::signbit(checked(p).beta));
}

TEST(GemmProblem, LargerLeadingDimensionsAreKept) {
  GemmProblem p = three_by_four_by_five();
  p.lda = 7;
  EXPECT_EQ(checked(p).lda, 7);
}

TEST(GemmProblem, SizesOutOfRangeAreRefusedByName) {
  GemmProblem p = three_by_four_by_five();
  p.m = -1;
  expect_input_error([&] { checked(p); }, {"m: '-1'", "0 to 2^40"});
  p = three_by_four_by_five();
  p.n = (int64_t{1} << 40) + 1;
  expect_input_error([&] { checked(p); }, {"n: '1099511627777'", "0 to 2^40"});
  p = three_by_four_by_five();
  p.k = -5;
  expect_input_error([&] { checked(p); }, {"k: '-5'"});
}

TEST(GemmProblem, LeadingDimensionsBelowTheRowsAreRefused) {
  GemmProblem p = three_by_four_by_five();
  p.ldb = 4;
  expect_input_error([&] { checked(p); }, {"ldb: '4'", "5 (the stored rows)"});
  p = three_by_four_by_five();
  p.ldc = -3;
  expect_input_error([&] { checked(p); }, {"ldc: '-3'"});
}

TEST(GemmProblem, AMatrixWhoseBytesOverflowIsRefused) {
  GemmProblem p;
  p.m = p.k = int64_t{1} << 40;  // 2^80 elements
  expect_input_error([&] { checked(p); }, {"lda", "2^60 bytes"});
}

TEST(GemmProblem, ScalarsMustBeFinite) {
  GemmProblem p = three_by_four_by_five();
  p.alpha = std::numeric_limits<double>::quiet_NaN();
  expect_input_error([&] { checked(p); }, {"alpha", "finite"});
  p = three_by_four_by_five();
  p.beta = -std::numeric_limits<double>::infinity();
  expect_input_error([&] { checked(p); }, {"beta", "finite"});
}

TEST(GemmProblem, RoutinesOnVectorsAreProductsOfOneColumn) {
  const GemmProblem n = checked(gemv_problem(3, 5, Trans::no)),
                    t = checked(gemv_problem(3, 5, Trans::yes));
  for (const GemmProblem& p : {n, t}) {
    EXPECT_EQ(std::pair(p.rows_a(), p.cols_a()), std::pair(3L, 5L)) << "A as stored";
    EXPECT_EQ(std::pair(p.rows_b(), p.cols_b()), std::pair(p.k, 1L));
    EXPECT_EQ(p.flops(), Flops{30});
  }
  EXPECT_EQ(std::pair(n.m, n.k), std::pair(3L, 5L));
  EXPECT_EQ(std::pair(t.m, t.k), std::pair(5L, 3L));
  const GemmProblem dot = checked(dot_problem(7));
  EXPECT_EQ(std::pair(dot.rows_a(), dot.cols_a()), std::pair(7L, 1L));
  EXPECT_EQ(std::pair(dot.rows_b(), dot.cols_b()), std::pair(7L, 1L));
  GemmProblem axpy = axpy_problem(7);
  axpy.place_a = MemoryId{3};
  axpy = checked(axpy);
  EXPECT_EQ(std::pair(axpy.rows_a(), axpy.cols_a()), std::pair(7L, 1L));
  EXPECT_EQ(axpy.rows_b() * axpy.cols_b(), 0);
  EXPECT_EQ(axpy.place_b, axpy.place_a) << "there is no B";
  EXPECT_EQ(axpy.flops(), Flops{14});
}

TEST(GemmProblem, OptionsThatARoutineLacksAreRefused) {
  GemmProblem p = gemv_problem(3, 5, Trans::no);
  p.n = 2;
  expect_input_error([&] { checked(p); }, {"gemv", "n = 2", "expected n = 1"});
  p = gemv_problem(3, 5, Trans::no);
  p.trans_b = Trans::yes;
  expect_input_error([&] { checked(p); }, {"gemv", "NT", "not transposed"});
  p = dot_problem(5);
  p.beta = 1;
  expect_input_error([&] { checked(p); }, {"dot", "beta = 1", "beta = 0"});
  p = dot_problem(5);
  p.m = 4;
  expect_input_error([&] { checked(p); }, {"dot", "m = 4", "m = n = 1"});
  p = axpy_problem(5);
  p.k = 0;
  expect_input_error([&] { checked(p); }, {"axpy", "k = 0", "n = k = 1"});
}

TEST(GemmProblem, NamesReadBack) {
  for (DType type : {DType::f64, DType::f32, DType::f16, DType::bf16})
    EXPECT_EQ(dtype_from_string(to_string(type)), type);
  for (Routine routine : {Routine::gemm, Routine::gemv, Routine::dot, Routine::axpy})
    EXPECT_EQ(routine_from_string(to_string(routine)), routine);
  expect_input_error([] { routine_from_string("trsm"); },
                     {"routine: 'trsm'", "gemm, gemv, dot, axpy"});
  for (Trans trans : {Trans::no, Trans::yes})
    EXPECT_EQ(trans_from_string(to_string(trans), "transa"), trans);
  expect_input_error([] { dtype_from_string("double"); },
                     {"dtype: 'double'", "f64, f32, f16, bf16, tf32"});
  expect_input_error([] { trans_from_string("C", "transa"); }, {"transa: 'C'", "N, T"});
}

}  // namespace
}  // namespace tilerail
