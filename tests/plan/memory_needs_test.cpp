#include "plan/memory_needs.hpp"

#include <gtest/gtest.h>

#include "plan/validate.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/layouts.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/two_hosts.hpp"

namespace tilerail::testing {
namespace {

constexpr MemoryId host{0}, gpu0{1}, gpu1{2};

std::vector<MemoryNeed> needs_of(const GemmProblem& p, const Topology& machine) {
  return memory_needs(tensors_of(checked(p)), machine.gpus(), machine);
}

TEST(MemoryNeeds, AMatrixTakesItsColumnsALeadingDimensionApart) {
  GemmProblem p = cube(100);
  p.k = 10, p.lda = 150, p.dtype = DType::f32;
  p.place_b = gpu0, p.place_c = gpu1;
  const auto needs = needs_of(p, shipped("two-gpu"));
  EXPECT_EQ(needs[0].matrices,
            4 * (9 * 150 + 100));  // A: 100 x 10, the last column without padding
  EXPECT_EQ(needs[1].matrices, 4 * 10 * 100);
  EXPECT_EQ(needs[2].matrices, 4 * 100 * 100);
  EXPECT_EQ(needs[2].tiles, 0);
}

TEST(MemoryNeeds, AnAxpyHasTwoVectorsAndNoMore) {
  GemmProblem p = axpy_problem(1000);
  p.place_c = gpu1;
  const auto needs = needs_of(p, shipped("two-gpu"));
  EXPECT_EQ(needs[0].total(), 8000);
  EXPECT_EQ(needs[1].total(), 0);
  EXPECT_EQ(needs[2].total(), 8000);
}

TEST(MemoryNeeds, AMatrixOnSeveralHostsNeedsMemoryOfEach) {
  auto d = small_machine::two_hosts();
  d.memories[3].capacity = Bytes{3e9};  // h1
  const Topology t{d};
  GemmProblem p;
  p.m = p.n = p.k = 16384;  // 2.147 GB each
  const auto check = [&](const char* place) {
    p.place_a = p.place_b = p.place_c = layout(t, place);
    check_capacities(needs_of(p, t), t, "place");
  };
  check("h0");
  expect_input_error([&] { check("h*"); }, {"place", "3.221 GB", "'h1'", "3.000 GB"});
  expect_input_error([&] { check("h/rows"); }, {"3.221 GB", "'h1'"});
  p.k = 8192;
  check("h*");
}

/// Matrices of 512 x 512 doubles, 2,097,152 bytes each: A and B on gpu0, C on the host.
class PlanOnASmallerMachine : public ::testing::Test {
 protected:
  Topology machine = shipped("two-gpu");
  Plan plan = [this] {
    GemmProblem p = cube(512);
    p.place_a = p.place_b = gpu0;
    return plan_gemm(p, machine, {&gpu0, 1}, policy("tilerail", {"tile=512"}));
  }();
  Topology with(MemoryId memory, double capacity) const {
    Topology::Description d = machine.description();
    d.memories[memory.index()].capacity = Bytes{capacity};
    return Topology{std::move(d)};
  }
};

TEST_F(PlanOnASmallerMachine, NeedsItsMatricesAndItsTiles) {
  // gpu0 holds A, B and the tiles of C.
  const auto tiles = double(plan.peak_bytes[gpu0.index()]);
  ASSERT_GT(tiles, 0);
  const double needed = 2 * 2097152 + tiles;
  EXPECT_EQ(memory_needs(plan, machine)[gpu0.index()].total(), needed);
  EXPECT_NO_THROW(validate(plan, with(gpu0, needed)));
  expect_input_error([&] { validate(plan, with(gpu0, needed - 1)); },
                     {"plan", "gpu0", "4.194 MB for matrices"});
}

TEST_F(PlanOnASmallerMachine, NeedsTheHostsMemoryToo) {
  EXPECT_NO_THROW(validate(plan, with(host, 2097152)));
  expect_input_error([&] { validate(plan, with(host, 2097151)); },
                     {"plan", "host", "2.097 MB"});
}

}  // namespace
}  // namespace tilerail::testing
