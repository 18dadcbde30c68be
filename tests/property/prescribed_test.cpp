// SUMMA and 2.5D Cannon on random problems and nodes of four GPUs: right results in every
// order, without races, with the words of the closed forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "backends/host/run/host_executor.hpp"
#include "backends/sim/sim_executor.hpp"
#include "model/base/error.hpp"
#include "plan/validate.hpp"
#include "sched/algorithm/cannon25d.hpp"
#include "sched/algorithm/summa.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/gpu_nodes.hpp"
#include "tests/support/plan_interpreter.hpp"
#include "tests/support/plan_text.hpp"
#include "tests/support/prescribed_problems.hpp"
#include "tests/support/test_seed.hpp"

namespace tilerail::testing {
namespace {

/// The first GPUs of a machine in nodes, and everything that runs plans there.
struct Bed {
  explicit Bed(int nodes)
      : machine{small_machine::gpu_nodes(nodes)},
        simulator{machine},
        host{machine, {.workers = 1, .poison = true}} {}

  std::vector<MemoryId> gpus(size_t count) const {
    const auto all = machine.gpus();
    return {all.begin(), all.begin() + ptrdiff_t(count)};
  }

  Topology machine;
  SimExecutor simulator;
  HostExecutor host;
};

void check_times(Bed& bed, const Plan& plan) {
  const std::vector<OpTime> expected = bed.simulator.execute(plan).ops,
                            times = simulate_fluid(plan, bed.machine);
  ASSERT_EQ(times.size(), expected.size());
  if (times.empty()) return;
  const double close = 1e-9 * makespan_of(expected).value;
  for (size_t i = 0; i < times.size(); ++i) {
    ASSERT_NEAR(times[i].start, expected[i].start, close) << "operation " << i;
    ASSERT_NEAR(times[i].end, expected[i].end, close) << "operation " << i;
  }
}

void check(Bed& bed, const Plan& plan, uint64_t seed) {
  validate(plan, bed.machine);
  EXPECT_EQ(find_race(plan), "");
  Matrices data = integer_matrices(plan.gemm(), seed);
  const std::vector<double> expected = reference(plan.gemm(), data);
  for (const uint64_t order : {uint64_t{0}, uint64_t{1}, seed + 2, seed + 3})
    EXPECT_EQ(interpret(plan, data, order), expected) << "order " << order;
  check_times(bed, plan);
  bed.host.set_matrices({data.a.data(), data.b.data(), data.c.data()});
  bed.host.execute(plan);
  EXPECT_EQ(data.c, expected) << "host";
  EXPECT_EQ(content_hash(plan_from_json(to_json(plan), "plan.json")), content_hash(plan));
}

double words(const Plan& plan) {
  return moved_bytes(plan) / double(element_size(plan.dtype()));
}

// -------------------------------------------------------------------------------- SUMMA

/// By row or column of a whole matrix: the number of its interval among even ones.
std::vector<int> coordinates(int64_t extent, int parts) {
  const auto borders = even_borders(extent, parts);
  std::vector<int> found;
  for (int64_t i = 0; i < extent; ++i)
    found.push_back(int(std::ranges::upper_bound(borders, i) - borders.begin()) - 1);
  return found;
}

/// The words of A, each of which goes once to every GPU that has C in its rows and lacks
/// it: op(A) is `rows` x `depth`, C `rows` x `cols` on a grid of p x q GPUs. With C
/// transposed, it counts the words of B.
double words_of_summa(int64_t rows, int64_t depth, int64_t cols, bool transposed, int p,
                      int q) {
  const auto row = coordinates(rows, p), col = coordinates(cols, q);
  const auto uses = [&](int gpu_row, int gpu_col, int64_t r) {
    return row[size_t(r)] == gpu_row && std::ranges::count(col, gpu_col) > 0;
  };
  const auto stored_rows = coordinates(transposed ? depth : rows, p),
             stored_cols = coordinates(transposed ? rows : depth, q);
  int users = 0;
  for (int j = 0; j < q; ++j) users += std::ranges::count(col, j) > 0;
  double sum = 0;
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t k = 0; k < depth; ++k)
      sum += users - int(uses(stored_rows[size_t(transposed ? k : r)],
                              stored_cols[size_t(transposed ? r : k)], r));
  return sum;
}

double words_of_summa(const GemmProblem& p, LayoutGrid grid) {
  if (!p.has_product()) return 0;
  // B^T takes the part of A in C^T = alpha op(B)^T op(A)^T on the grid's transpose.
  return words_of_summa(p.m, p.k, p.n, p.trans_a == Trans::yes, grid.rows, grid.cols) +
         words_of_summa(p.n, p.k, p.m, p.trans_b == Trans::yes, grid.cols, grid.rows);
}

void check_summa(Bed& bed, LayoutGrid grid, int64_t most, Random& random) {
  GemmProblem p = random_problem(random, most);
  const auto gpus = bed.gpus(grid.members());
  const bool cyclic = random() % 4 == 0;
  p.place_a = p.place_b = p.place_c =
      cyclic ? Layout::block_cyclic(grid, 7, 9, gpus) : grid_on(gpus, grid);
  const SummaOptions options{4 + random_below(random, 16), random_transport(random)};
  SCOPED_TRACE(text(p, options.transport) + " panel " + std::to_string(options.panel));
  const Plan plan = plan_summa(p, bed.machine, options);
  check(bed, plan, random());
  if (cyclic) return;
  EXPECT_EQ(words(plan), words_of_summa(p, grid));
  const int parts = std::max(grid.rows, grid.cols);
  const bool plain = p.trans_a == Trans::no && p.trans_b == Trans::no;
  if (plain && p.has_product() && p.m >= parts && p.n >= parts && p.k >= parts) {
    EXPECT_EQ(words(plan), (grid.cols - 1) * p.m * p.k + (grid.rows - 1) * p.k * p.n);
  }
}

TEST(PrescribedTransport, SummaIsRightOnEightGpus) {
  Bed bed{2};
  Random random{test::test_seed()};
  for (int i = 0; i < 200 && !HasFailure(); ++i)
    check_summa(bed,
                mostly_first<LayoutGrid>(
                    random, {{2, 4}, {4, 2}, {2, 2}, {1, 8}, {8, 1}, {3, 2}, {1, 1}}),
                40, random);
}

TEST(PrescribedTransport, SummaIsRightOnThirtyTwoGpus) {
  Bed bed{8};
  Random random{test::test_seed() + 1};
  for (int i = 0; i < 180 && !HasFailure(); ++i)
    check_summa(bed, mostly_first<LayoutGrid>(random, {{4, 8}, {8, 4}, {5, 6}, {3, 7}}),
                40, random);
}

// ------------------------------------------------------------------------- 2.5D Cannon

/// Elements of A that step 0 needs where they are: block row 0; of a transposed A, only
/// block (0, 0).
double in_place(int64_t rows, int64_t depth, bool transposed, int g) {
  return double(even_borders(rows, g)[1] *
                (transposed ? even_borders(depth, g)[1] : depth));
}

double words_of_cannon(const GemmProblem& p, LayoutGrid cube) {
  const double g = cube.rows, c = cube.replicas;
  return g * double(p.m * p.k + p.k * p.n) + (c - 1) * double(p.m * p.n) -
         in_place(p.m, p.k, p.trans_a == Trans::yes, cube.rows) -
         in_place(p.n, p.k, p.trans_b == Trans::yes, cube.rows);
}

void check_cannon(Bed& bed, LayoutGrid cube, int64_t most, Random& random) {
  GemmProblem p = random_problem(random, most);
  const auto gpus = bed.gpus(cube.members());
  p.place_a = p.place_b = p.place_c = grid_on(gpus, {cube.rows, cube.cols, 1});
  const Transport::Options transport = random_transport(random);
  SCOPED_TRACE(text(p, transport));
  const Plan plan = plan_cannon25d(p, bed.machine, gpus, transport);
  check(bed, plan, random());
  if (!p.has_product()) {
    EXPECT_EQ(words(plan), 0);
  } else if (p.k >= cube.rows) {  // otherwise some layers have no products
    EXPECT_EQ(words(plan), words_of_cannon(p, cube));
  }
}

TEST(PrescribedTransport, SummaNeedsAPanel) {
  const Topology machine{small_machine::gpu_nodes(2)};
  GemmProblem p;
  p.m = p.n = p.k = 8;
  p.place_a = p.place_b = p.place_c = Layout::of_rows(machine.gpus());
  expect_input_error(
      [&] {
        plan_summa(p, machine, {0, {}});
      },
      {"panel: '0' is out of range; expected at least 1"});
}

TEST(PrescribedTransport, CannonIsRightOnEightGpus) {
  Bed bed{2};
  Random random{test::test_seed() + 2};
  for (int i = 0; i < 200 && !HasFailure(); ++i)
    check_cannon(bed, mostly_first<LayoutGrid>(random, {{2, 2, 2}, {2, 2, 1}, {1, 1, 1}}),
                 40, random);
}

TEST(PrescribedTransport, CannonIsRightOnThirtyTwoGpus) {
  Bed bed{8};
  Random random{test::test_seed() + 3};
  for (int i = 0; i < 180 && !HasFailure(); ++i)
    check_cannon(bed,
                 mostly_first<LayoutGrid>(
                     random, {{4, 4, 2}, {4, 4, 1}, {3, 3, 3}, {5, 5, 1}, {3, 3, 1}}),
                 40, random);
}

// ------------------------------------------------------------------------ dependencies

/// The plan without the dependency of this number.
Plan without(Plan plan, size_t dependency) {
  plan.deps.erase(plan.deps.begin() + ptrdiff_t(dependency));
  for (uint32_t& begin : plan.dep_begin) begin -= begin > dependency;
  return plan;
}

TEST(PrescribedTransport, EveryDependencyPreventsARace) {
  const Topology machine{small_machine::gpu_nodes(2)};
  const auto gpus = machine.gpus();
  GemmProblem p;
  p.m = 14, p.n = 17, p.k = 23, p.beta = 2;
  for (const Pattern pattern : {Pattern::chain, Pattern::ring, Pattern::tree}) {
    p.place_a = p.place_b = p.place_c = grid_on({gpus.begin(), gpus.end()}, {2, 2, 1});
    const Plan cannon = plan_cannon25d(p, machine, gpus, {pattern, 2});
    p.place_a = p.place_b = p.place_c = grid_on({gpus.begin(), gpus.end()}, {2, 4, 1});
    const Plan summa = plan_summa(p, machine, {4, {pattern, 2}});
    for (const Plan* plan : {&cannon, &summa}) {
      SCOPED_TRACE(plan->policy);
      size_t redundant = 0;
      for (size_t i = 0; i < plan->deps.size(); ++i)
        redundant += find_race(without(*plan, i)).empty();
      // In SUMMA, a few dependencies follow from chains of several others.
      EXPECT_LE(redundant, plan == &cannon ? 0 : plan->deps.size() / 12);
    }
  }
}

}  // namespace
}  // namespace tilerail::testing
