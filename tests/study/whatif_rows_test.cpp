// What follows from rows of a what-if that were tried: plans of other rows, shares of kernels, errors.
#include <gtest/gtest.h>

#include "study/whatif/answers.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::study {
namespace {

Evaluation taking(double seconds) {
  Evaluation evaluation;
  evaluation.makespan = seconds;
  return evaluation;
}

/// A row whose own plan and the kept one take so long, and what its plan takes with other factors.
WhatIfRow row(size_t part, double factor, double planned, double kept, std::vector<Elsewhere> elsewhere = {}) {
  return {part, factor, Trial{taking(planned), taking(kept), 0, std::move(elsewhere)}};
}

TEST(WhatIfRows, APlanMadeForAnotherFactorCounts) {
  std::vector<WhatIfRow> rows{
      row(0, 2, 5, 8, {{0.5, taking(11)}, {without_limit, taking(4)}}),
      row(0, without_limit, 9, 8, {{2, taking(6)}, {0.5, taking(13)}}),
      row(0, 0.5, 12, 12, {{2, taking(5)}, {without_limit, taking(3)}}),
      row(1, without_limit, 9, 8),
  };
  rows.push_back({0, 4, std::nullopt, "failed"});
  share_plans(rows);
  EXPECT_FALSE(rows[0].trial->other);  // none is better than its own
  EXPECT_EQ(rows[0].trial->best().makespan, 5);
  EXPECT_EQ(rows[1].trial->best().makespan, 3);
  EXPECT_EQ(rows[1].trial->other->makespan, 3);
  EXPECT_EQ(rows[2].trial->best().makespan, 11);
  EXPECT_FALSE(rows[3].trial->other);  // another part
}

WhatIf two_gpu() {
  WhatIf what{{testing::shipped("two-gpu"), {}}};
  what.parts = parts_of(what.question.topology, testing::cube(64), what.question.topology.gpus(), {});
  what.now.makespan = 1, what.now.kernels = 0.5;
  return what;
}

size_t part_of(const WhatIf& what, Knob::Kind kind) {
  for (size_t i = 0; i < what.parts.size(); ++i)
    if (what.parts[i].of(kind)) return i;
  return what.parts.size();
}

TEST(WhatIfRows, TheLargestShareOfKernelsIsOfABetterPartThatIsNoKernels) {
  WhatIf what = two_gpu();
  EXPECT_EQ(most_kernels(what), nullptr);
  const size_t link = part_of(what, Knob::Kind::link), kernels = part_of(what, Knob::Kind::kernels);
  for (const auto& [part, factor, share] : {std::tuple{link, 0.5, 0.9}, {kernels, 2.0, 0.8}, {link, 2.0, 0.6}}) {
    what.rows.push_back(row(part, factor, 1, 1));
    what.rows.back().trial->planned.kernels = share;
  }
  ASSERT_NE(most_kernels(what), nullptr);
  EXPECT_EQ(most_kernels(what)->trial->planned.kernels, 0.6);
}

}  // namespace
}  // namespace tilerail::study
