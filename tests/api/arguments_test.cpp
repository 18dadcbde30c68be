#include "api/arguments.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace tilerail::api {
namespace {

/// A valid call: op(A) is 4 x 3 and stored 3 x 4, op(B) is 3 x 5 and not transposed, C is
/// 4 x 5.
GemmArguments legal() {
  alignas(16) static double memory[64];
  GemmArguments x;
  x.trans_a = 'T', x.trans_b = 'N';
  x.m = 4, x.n = 5, x.k = 3;
  x.alpha = 2, x.beta = 3;
  x.a = memory, x.b = memory, x.c = memory;
  x.lda = 3, x.ldb = 3, x.ldc = 4;
  return x;
}

TEST(GemmArguments, ALegalCallHasNoDefect) { EXPECT_FALSE(first_defect(legal())); }

struct BadArgument {
  int position;
  std::string text;  // part of the message
  std::function<void(GemmArguments&)> spoil;
};

class EachBadArgument : public ::testing::TestWithParam<BadArgument> {};

TEST_P(EachBadArgument, IsReportedWithItsPositionInBlas) {
  GemmArguments x = legal();
  GetParam().spoil(x);
  const auto defect = first_defect(x);
  ASSERT_TRUE(defect);
  EXPECT_EQ(defect->position, GetParam().position);
  EXPECT_THAT(defect->message, ::testing::HasSubstr(GetParam().text));
  EXPECT_THAT(defect->message,
              ::testing::HasSubstr("argument " + std::to_string(GetParam().position)));
}

constexpr int64_t huge = (int64_t{1} << 40) + 1;
void* misaligned() { return reinterpret_cast<void*>(uintptr_t{4097}); }

INSTANTIATE_TEST_SUITE_P(
    GemmArguments, EachBadArgument,
    ::testing::Values(BadArgument{1, "'X'", [](auto& x) { x.trans_a = 'X'; }},
                      BadArgument{1, "character 0", [](auto& x) { x.trans_a = '\0'; }},
                      BadArgument{2, "'q'", [](auto& x) { x.trans_b = 'q'; }},
                      BadArgument{3, "= -1", [](auto& x) { x.m = -1; }},
                      BadArgument{3, "2^40", [](auto& x) { x.m = huge; }},
                      BadArgument{4, "= -2", [](auto& x) { x.n = -2; }},
                      BadArgument{5, "= -3", [](auto& x) { x.k = -3; }},
                      BadArgument{7, "null", [](auto& x) { x.a = nullptr; }},
                      BadArgument{7, "multiple of 8",
                                  [](auto& x) { x.a = misaligned(); }},
                      BadArgument{8, "at least 3",
                                  [](auto& x) { x.lda = 2; }},  // stored rows of A^T: k
                      BadArgument{8, "at least 4", [](auto& x) { x.trans_a = 'n'; }},
                      BadArgument{9, "null", [](auto& x) { x.b = nullptr; }},
                      BadArgument{10, "at least 3", [](auto& x) { x.ldb = 0; }},
                      BadArgument{10, "at least 5", [](auto& x) { x.trans_b = 'c'; }},
                      BadArgument{12, "null", [](auto& x) { x.c = nullptr; }},
                      BadArgument{13, "at least 4", [](auto& x) { x.ldc = 3; }},
                      BadArgument{13, "2^40", [](auto& x) { x.ldc = huge; }}));

TEST(GemmArguments, TheFirstOfSeveralBadArgumentsIsReported) {
  GemmArguments x = legal();
  x.ldc = 0, x.k = -1, x.b = nullptr;
  EXPECT_EQ(first_defect(x)->position, Position::k);
}

TEST(GemmArguments, LeadingDimensionsAreAtLeastOneForEmptyMatrices) {
  GemmArguments x = legal();
  x.m = x.n = x.k = 0;
  x.lda = x.ldb = x.ldc = 1;
  x.a = x.b = x.c = nullptr;
  EXPECT_FALSE(first_defect(x));
  x.ldb = 0;
  EXPECT_EQ(first_defect(x)->position, Position::ldb);
}

TEST(GemmArguments, MatricesThatAreNotReadCanBeNull) {
  GemmArguments x = legal();
  x.a = x.b = nullptr;
  x.alpha = 0;
  EXPECT_FALSE(first_defect(x));
  x.alpha = 1, x.k = 0;
  EXPECT_FALSE(first_defect(x));
  x.c = nullptr;
  EXPECT_EQ(first_defect(x)->position, Position::c);
}

TEST(GemmArguments, CallsWithoutElementsOrChangesHaveNoWork) {
  const auto without_work = [](auto change) {
    GemmArguments x = legal();
    change(x);
    return has_no_work(x);
  };
  EXPECT_TRUE(without_work([](auto& x) { x.m = 0; }));
  EXPECT_TRUE(without_work([](auto& x) { x.n = 0; }));
  EXPECT_TRUE(without_work([](auto& x) { x.alpha = 0, x.beta = 1; }));
  EXPECT_TRUE(without_work([](auto& x) { x.k = 0, x.beta = 1; }));
  EXPECT_FALSE(without_work([](auto& x) { x.k = 0; }));
  EXPECT_FALSE(without_work([](auto& x) { x.beta = 1; }));
  EXPECT_FALSE(without_work(
      [](auto& x) { x.alpha = std::numeric_limits<double>::quiet_NaN(), x.beta = 1; }));
}

TEST(GemmArguments, AProblemThatOnlyScalesDescribesNeitherANorB) {
  GemmArguments x = legal(), y = legal();
  x.alpha = 0;
  y.k = 0, y.lda = 7, y.trans_a = 'N';
  const GemmProblem p = problem_of(x), q = problem_of(y);
  for (const GemmProblem* scaling : {&p, &q}) {
    EXPECT_EQ(scaling->k, 0);
    EXPECT_EQ(scaling->alpha, 0);
    EXPECT_EQ(scaling->lda, 4);
    EXPECT_EQ(scaling->trans_a, Trans::no);
  }
}

}  // namespace
}  // namespace tilerail::api
