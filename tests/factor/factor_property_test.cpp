// Random factorisations on random layouts of several machines, through every stage:
// planner, validation, interpreter in random order, race check, fluid machine, SimGrid,
// and the host executor on real numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "backends/fluid/simulation.hpp"
#include "backends/host/run/host_executor.hpp"
#include "backends/sim/sim_executor.hpp"
#include "model/base/contains.hpp"
#include "plan/validate.hpp"
#include "sched/factor/factor_planner.hpp"
#include "tests/factor/factored.hpp"
#include "tests/support/plan_interpreter.hpp"
#include "tests/support/plan_text.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/test_seed.hpp"

// Of LAPACK: A = Q R, reflectors in A and tau.
extern "C" void dgeqrf_(const int* m, const int* n, double* a, const int* lda,
                        double* tau, double* work, const int* lwork, int* info);

namespace tilerail::testing {
namespace {

class RandomCase {
 public:
  RandomCase(const Topology& machine, uint64_t seed) : machine_{machine}, random_{seed} {
    const bool is_qr = !chance(3);
    problem.kind = is_qr ? FactorProblem::Kind::geqrf : FactorProblem::Kind::potrf;
    problem.m = number(1, 40), problem.n = is_qr ? number(1, 40) : problem.m;
    problem.dtype = chance(2) ? DType::f64 : DType::f32;
    problem.ld = problem.m + number(0, 3);
    options.tile = std::max(number(2, chance(5) ? 48 : 10),  // often one ragged tile
                            std::max(problem.m, problem.n) / 6);
    options.reflectors = chance(2) ? 0 : number(1, options.tile + 2);
    std::vector<MemoryId> processors = machine.processors(), all = machine.gpus();
    std::ranges::shuffle(processors, random_);
    const auto some = number(1, std::min<int64_t>(6, int64_t(processors.size())));
    devices.assign(processors.begin(), processors.begin() + some);
    all.insert(all.end(), machine.hosts().begin(), machine.hosts().end());
    std::ranges::shuffle(all, random_);
    problem.place = chance(3) ? layout(all) : layout(devices);
    options.owner_computes = !chance(3);
  }

  FactorProblem problem;
  FactorOptions options;
  std::vector<MemoryId> devices;

 private:
  int64_t number(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>{least, most}(random_);
  }
  bool chance(int of) { return number(1, of) == 1; }

  LayoutCuts cuts(int parts) {
    if (chance(3)) return {};
    if (chance(2)) return {number(3, 20)};
    LayoutCuts some;
    for (int64_t at = number(1, 25); at < 40; at += number(5, 25))
      some.borders.push_back(at);
    for (size_t i = 0; i <= some.borders.size(); ++i)
      some.coordinates.push_back(int(number(0, parts - 1)));
    return some;
  }

  Layout layout(const std::vector<MemoryId>& memories) {
    const auto most = int64_t(memories.size());
    if (chance(4)) return memories[size_t(number(0, most - 1))];
    const int64_t rows = number(1, std::min<int64_t>(3, most)),
                  cols = number(1, std::min<int64_t>(3, most / rows));
    return {{int(rows), int(cols), 1},
            cuts(int(rows)),
            cuts(int(cols)),
            {memories.begin(), memories.begin() + rows * cols}};
  }

  const Topology& machine_;
  std::mt19937_64 random_;
};

void expect_same_times(const Plan& plan, const Topology& machine) {
  const std::vector<OpTime> expected = SimExecutor{machine}.execute(plan).ops,
                            times = simulate_fluid(plan, machine);
  const double close = 1e-9 * makespan_of(expected).value;
  ASSERT_GT(close, 0);
  for (size_t i = 0; i < times.size(); ++i) {
    ASSERT_NEAR(times[i].start, expected[i].start, close) << "operation " << i;
    ASSERT_NEAR(times[i].end, expected[i].end, close) << "operation " << i;
  }
}

template <class T>
Factors run_on_host(const Plan& plan, HostExecutor& host, const Factors& before) {
  std::vector<T> a(before.a.begin(), before.a.end()), t(before.t.begin(), before.t.end());
  host.set_matrices({a.data(), t.data()});
  host.execute(plan);
  return {{a.begin(), a.end()}, {t.begin(), t.end()}};
}

/// Rows of R have any sign, and the padding and the upper triangle of L are left alone.
void expect_right(const Plan& plan, const Factors& before, const Factors& after) {
  EXPECT_LT(residual(plan, before, after), 30);
  const Tensor& a = plan.tensors[0];
  const bool is_qr = plan.tensors.size() == 2;
  std::vector<double> expected = before.a;
  if (is_qr) {
    std::vector<double> tau(size_t(std::min(a.rows, a.cols))), work(64 * 64);
    const int m = int(a.rows), n = int(a.cols), ld = int(a.ld), size = int(work.size());
    int info = 0;
    dgeqrf_(&m, &n, expected.data(), &ld, tau.data(), work.data(), &size, &info);
    ASSERT_EQ(info, 0);
  }
  double largest = 0;
  for (const double x : before.a) largest = std::max(largest, std::abs(x));
  const double close = (a.dtype == DType::f64 ? 2e-12 : 2e-3) * largest;
  for (int64_t c = 0; c < a.cols; ++c)
    for (int64_t r = 0; r < a.ld; ++r) {
      const double x = at(plan, after.a, r, c), y = at(plan, expected, r, c);
      if (r >= a.rows || (!is_qr && r < c)) {
        EXPECT_EQ(x, y) << r << ", " << c;
      } else if (is_qr && r <= c) {
        EXPECT_NEAR(std::abs(x), std::abs(y), close) << r << ", " << c;
      }
    }
}

void expect_owners_compute(const Plan& plan, const RandomCase& c) {
  const auto blocks = c.problem.place.blocks(c.problem.m, c.problem.n);
  for (const Op& op : plan.ops) {
    if (!is_kernel(op.kind)) continue;
    const View& y = plan.result(op);
    const int64_t row = plan.buffer(y.buffer).row + y.row,
                  col = plan.buffer(y.buffer).col + y.col;
    const auto owner = std::ranges::find_if(blocks, [&](const MatrixBlock& b) {
      return b.row <= row && row < b.row + b.rows && b.col <= col && col < b.col + b.cols;
    });
    const MemoryId at = plan.queue(op.queue).dst;
    EXPECT_TRUE(at == owner->memory || !contains(c.devices, owner->memory));
  }
}

void expect_flops_of_the_routine(const Plan& plan, const FactorProblem& problem) {
  double flops = 0;
  for (const Op& op : plan.ops) flops += op_flops(op, plan.operands_of(op)).value;
  EXPECT_NEAR(flops, problem.flops().value, 1e-12 * flops);
}

void check(const Plan& plan, const RandomCase& c, const Topology& machine,
           HostExecutor& host, uint64_t seed) {
  validate(plan, machine);
  EXPECT_EQ(to_json(plan_from_json(to_json(plan), "plan.json")), to_json(plan));
  EXPECT_EQ(find_race(plan), "");
  if (c.options.owner_computes) expect_owners_compute(plan, c);
  expect_flops_of_the_routine(plan, c.problem);
  expect_same_times(plan, machine);
  const Factors before = random_factors(plan, seed);
  const Matrices done = interpreted(plan, {before.a, before.t, {}}, seed);
  expect_right(plan, before, {done.a, done.b});
  const bool is_f64 = plan.dtype() == DType::f64;
  expect_right(plan, before,
               is_f64 ? run_on_host<double>(plan, host, before)
                      : run_on_host<float>(plan, host, before));
}

constexpr std::array machines{"two-gpu",    "clx-ai-hetero",     "pcie-tree-8",
                              "hgx-h200-4", "karolina-hgx-a100", "summit-node"};
constexpr uint64_t cases = 100;  // of each machine

class Factorisations : public ::testing::TestWithParam<size_t> {};

TEST_P(Factorisations, AreRightAtEveryStage) {
  const Topology machine = test::shipped(machines[GetParam()]);
  HostExecutor host{machine, {.poison = true}};
  for (uint64_t i = 0; i < cases; ++i) {
    const uint64_t seed = test::test_seed() + i + cases * GetParam();
    SCOPED_TRACE("seed " + std::to_string(seed));
    const RandomCase c{machine, seed};
    const Plan plan = plan_factorisation(c.problem, machine, c.devices, c.options);
    ASSERT_NO_FATAL_FAILURE(check(plan, c, machine, host, seed));
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(OnShippedMachines, Factorisations,
                         ::testing::Range(size_t{0}, machines.size()));

}  // namespace
}  // namespace tilerail::testing
