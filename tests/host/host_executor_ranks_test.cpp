// Ranks in one process, each with an executor, memories and matrices of its own: results
// of SUMMA and 2.5D Cannon, and the error that all ranks report if one of them fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <future>
#include <limits>
#include <string>
#include <thread>

#include "backends/host/run/host_executor.hpp"
#include "backends/ranks/in_process.hpp"
#include "model/base/error.hpp"
#include "sched/algorithm/cannon25d.hpp"
#include "sched/algorithm/summa.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/gpu_nodes.hpp"
#include "tests/support/plan_interpreter.hpp"
#include "tests/support/prescribed_problems.hpp"
#include "tests/support/test_seed.hpp"

namespace tilerail {
namespace {

using testing::Random;
using Numbers = std::vector<double>;
using Data = testing::Matrices;

/// Visits all elements of a matrix; `visit` learns whether a memory of the rank has the
/// element.
template <class Visit>
void for_each_element(const Tensor& tensor, const OwnRank& own, Visit visit) {
  for (const MatrixBlock& b : tensor.layout.blocks(tensor.rows, tensor.cols))
    for (int64_t j = b.col; j < b.col + b.cols; ++j)
      for (int64_t i = b.row; i < b.row + b.rows; ++i)
        visit(size_t(i + j * tensor.ld), own.has(b.memory));
}

bool same_bytes(const Numbers& x, const Numbers& y) {
  return x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(double)) == 0;
}

/// Calls work(rank) in a thread of each rank. A hang ends the program.
void in_threads(size_t ranks, const std::function<void(size_t)>& work) {
  std::deque<std::future<void>> threads;
  for (size_t r = 0; r < ranks; ++r)
    threads.push_back(std::async(std::launch::async, work, r));
  for (auto& thread : threads) {
    if (thread.wait_for(std::chrono::minutes{5}) != std::future_status::ready) {
      std::fputs("a rank hangs\n", stderr);
      std::abort();
    }
  }
}

/// The ranks of a machine of `nodes` nodes with four GPUs each.
class RankedHosts {
 public:
  RankedHosts(int nodes, int gpus_of_rank)
      : machine{small_machine::gpu_nodes(nodes)},
        ranks{small_machine::ranks_of_gpus(machine, gpus_of_rank)} {
    for (size_t r = 0; r < ranks.size(); ++r)
      hosts_.emplace_back(machine, HostOptions{1, true, own(r)});
  }

  OwnRank own(size_t rank) const { return {ranks, RankId{rank}}; }

  template <class PartOf>
  std::vector<PlanPart> parts(PartOf part_of) const {
    std::vector<PlanPart> all;
    for (size_t r = 0; r < ranks.size(); ++r) all.push_back(part_of(own(r)));
    return all;
  }

  /// Runs the parts. Each rank's matrices have NaN where other ranks have elements. A
  /// rank must change neither these NaNs nor A and B. Ranks in `absent` leave without a
  /// run.
  void run(const std::vector<PlanPart>& parts, Data& data,
           const std::vector<size_t>& absent = {}) {
    auto transports = in_process_transports(ranks.size());
    const std::vector<Tensor>& tensors = parts[0].plan.tensors;
    std::vector<Data> own_data(ranks.size(), data);
    errors.assign(ranks.size(), "");
    hashes.assign(ranks.size(), "");
    in_threads(ranks.size(), [&](size_t r) {
      Data& own = own_data[r];
      const std::array matrices{&own.a, &own.b, &own.c};
      for (size_t t = 0; t < 3; ++t)
        for_each_element(tensors[t], this->own(r), [&](size_t i, bool is_own) {
          if (!is_own) (*matrices[t])[i] = std::numeric_limits<double>::quiet_NaN();
        });
      const Data before = own;
      hosts_[r].set_matrices({own.a.data(), own.b.data(), own.c.data()});
      try {
        if (std::ranges::count(absent, r) == 0)
          hashes[r] = hosts_[r].execute(parts[r], *transports[r]).plan_hash;
      } catch (const std::exception& error) {
        errors[r] = error.what();
      }
      transports[r].reset();
      EXPECT_TRUE(same_bytes(own.a, before.a) && same_bytes(own.b, before.b));
      for_each_element(tensors[2], this->own(r), [&](size_t i, bool is_own) {
        EXPECT_TRUE(is_own || std::isnan(own.c[i]));
      });
    });
    for (size_t r = 0; r < ranks.size(); ++r)
      for_each_element(tensors[2], own(r), [&](size_t i, bool is_own) {
        if (is_own) data.c[i] = own_data[r].c[i];
      });
  }

  void check(const std::vector<PlanPart>& parts, uint64_t seed) {
    const GemmProblem& problem = parts[0].plan.gemm();
    Data data = testing::integer_matrices(problem, seed);
    const Numbers expected = testing::reference(problem, data);
    run(parts, data);
    EXPECT_EQ(errors, std::vector<std::string>(ranks.size()));
    EXPECT_EQ(data.c, expected);
    EXPECT_EQ(hashes, std::vector<std::string>(ranks.size(), hashes[0]));
  }

  /// All ranks report one error, with these words.
  void expect_error(const std::vector<PlanPart>& parts,
                    const std::vector<std::string>& words,
                    const std::vector<size_t>& absent = {}) {
    Data data;
    for (Numbers* matrix : {&data.a, &data.b, &data.c}) matrix->assign(4096, 1);
    run(parts, data, absent);
    std::vector<std::string> reported;
    for (size_t r = 0; r < errors.size(); ++r)
      if (std::ranges::count(absent, r) == 0) reported.push_back(errors[r]);
    EXPECT_THAT(reported, ::testing::Each(reported[0]));
    EXPECT_THAT(reported[0], mentions(words));
  }

  const Topology machine;
  const Ranks ranks;
  std::vector<std::string> errors, hashes;  // of the last run

 private:
  std::deque<HostExecutor> hosts_;
};

void check_summa(RankedHosts& hosts, LayoutGrid grid, Random& random) {
  GemmProblem p = testing::random_problem(random, 40);
  p.place_a = p.place_b = p.place_c = testing::grid_on(hosts.machine.gpus(), grid);
  if (random() % 4 == 0)
    p.place_a = p.place_b = p.place_c = Layout::block_cyclic(
        grid, 7, 9, {p.place_a.members().begin(), p.place_a.members().end()});
  const SummaOptions options{4 + testing::random_below(random, 16),
                             testing::random_transport(random)};
  SCOPED_TRACE(testing::text(p, options.transport));
  hosts.check(hosts.parts([&](const OwnRank& own) {
    return part_of_summa(p, hosts.machine, own, options);
  }),
              random());
}

void check_cannon(RankedHosts& hosts, LayoutGrid cube, Random& random) {
  GemmProblem p = testing::random_problem(random, 40);
  const std::span gpus = std::span{hosts.machine.gpus()}.first(cube.members());
  p.place_a = p.place_b = p.place_c =
      testing::grid_on(hosts.machine.gpus(), {cube.rows, cube.cols, 1});
  const Transport::Options transport = testing::random_transport(random);
  SCOPED_TRACE(testing::text(p, transport));
  hosts.check(hosts.parts([&](const OwnRank& own) {
    return part_of_cannon25d(p, hosts.machine, gpus, own, transport);
  }),
              random());
}

TEST(HostExecutorRanks, SummaOnFourRanksOfTwoGpus) {
  RankedHosts hosts{2, 2};
  Random random{test::test_seed()};
  for (int i = 0; i < 180 && !::testing::Test::HasFailure(); ++i)
    check_summa(hosts,
                testing::mostly_first<LayoutGrid>(
                    random, {{2, 4}, {4, 2}, {2, 2}, {8, 1}, {3, 2}}),
                random);
}

TEST(HostExecutorRanks, CannonOnFourRanksOfTwoGpus) {
  RankedHosts hosts{2, 2};
  Random random{test::test_seed() + 1};
  for (int i = 0; i < 180 && !::testing::Test::HasFailure(); ++i)
    check_cannon(hosts, testing::mostly_first<LayoutGrid>(random, {{2, 2, 2}, {2, 2, 1}}),
                 random);
}

TEST(HostExecutorRanks, SummaOnEightRanksOfFourGpus) {
  RankedHosts hosts{8, 4};
  Random random{test::test_seed() + 2};
  for (int i = 0; i < 80 && !::testing::Test::HasFailure(); ++i)
    check_summa(hosts,
                testing::mostly_first<LayoutGrid>(random, {{4, 8}, {8, 4}, {5, 6}}),
                random);
}

TEST(HostExecutorRanks, CannonOnFourRanksOfEightGpus) {
  RankedHosts hosts{8, 8};
  Random random{test::test_seed() + 3};
  for (int i = 0; i < 80 && !::testing::Test::HasFailure(); ++i)
    check_cannon(
        hosts,
        testing::mostly_first<LayoutGrid>(random, {{4, 4, 2}, {4, 4, 1}, {3, 3, 3}}),
        random);
}

// ------------------------------------------------------------------------------- faults

class HostExecutorRanksFault : public ::testing::Test {
 protected:
  HostExecutorRanksFault() {
    problem.m = problem.n = problem.k = 16;
    problem.place_a = problem.place_b = problem.place_c =
        testing::grid_on(hosts.machine.gpus(), {1, 4, 1});
  }
  PlanPart part(const OwnRank& own, const SummaOptions& options = {4, {}}) const {
    return part_of_summa(problem, hosts.machine, own, options);
  }
  std::vector<PlanPart> parts() const {
    return hosts.parts([&](const OwnRank& own) { return part(own); });
  }

  RankedHosts hosts{1, 1};
  GemmProblem problem;
};

/// The column of A has a leading dimension that exceeds a BLAS integer. Only the rank
/// that owns it multiplies it in place.
TEST_F(HostExecutorRanksFault, OfAKernelIsReportedByAll) {
  problem.k = 1;
  problem.lda = int64_t{1} << 33;
  const auto owners = problem.place_a.blocks(16, 1);
  ASSERT_EQ(owners.size(), 1u);
  const size_t owner = hosts.own(0).ranks.of(owners[0].memory).index();
  for (int run = 0; run < 20; ++run)
    hosts.expect_error(parts(), {"rank " + std::to_string(owner) + ": operation", "(gemm",
                                 "8589934592"});
}

TEST_F(HostExecutorRanksFault, OfAPartOfAnotherPlanIsReportedByAll) {
  std::vector<PlanPart> mixed = parts();
  problem.alpha = 3;
  mixed[2] = part(hosts.own(2));
  hosts.expect_error(mixed, {"rank 2", "has a part of another plan"});
  problem.alpha = 1;
  mixed[2] = part(hosts.own(2), {8, {}});
  hosts.expect_error(mixed, {"rank 2", "has a part of another plan"});
}

/// The same problem and panel, but rank 3 sends along a tree.
TEST_F(HostExecutorRanksFault, OfOtherMessagesIsReportedByAll) {
  std::vector<PlanPart> mixed = parts();
  mixed[3] = part(hosts.own(3), {4, {Pattern::tree, 1}});
  hosts.expect_error(mixed,
                     {"message", "from rank", "differs from the plan of this rank"});
}

/// Each message in turn, at its sender or its receiver, becomes a join.
TEST_F(HostExecutorRanksFault, OfAMissingMessageNamesIt) {
  const std::vector<PlanPart> whole = parts();
  size_t tried = 0;
  for (size_t r = 0; r < whole.size(); ++r) {
    for (const Transfer& missing : whole[r].transfers) {
      Plan plan = whole[r].plan;
      plan.ops[missing.op.index()].kind = OpKind::join;
      std::vector<PlanPart> some = whole;
      some[r] = PlanPart{plan, whole[r].own};
      const RankId sender = missing.sends ? RankId{r} : missing.peer;
      hosts.expect_error(some, {"message " + std::to_string(missing.number) +
                                    " from rank " + std::to_string(sender.value),
                                message_text(missing.message, plan)});
      ++tried;
    }
  }
  EXPECT_GT(tried, 20u);
}

TEST_F(HostExecutorRanksFault, OfARankThatLeavesIsReportedByTheOthers) {
  hosts.expect_error(parts(), {"rank 1: has left without message 0"}, {1});
}

TEST_F(HostExecutorRanksFault, OfTheNumberOfRanksIsReported) {
  const auto transports = in_process_transports(3);
  HostExecutor host{hosts.machine, {1, false, hosts.own(1)}};
  expect_input_error([&] { host.execute(part(hosts.own(1)), *transports[1]); },
                     {"rank 1: plan: '4' ranks", "3"});
  const auto others = in_process_transports(4);
  expect_input_error([&] { host.execute(part(hosts.own(2)), *others[1]); },
                     {"rank 1: plan: is the part of rank 2; expected rank 1"});
}

TEST_F(HostExecutorRanksFault, LeavesExecutorsUsable) {
  std::vector<PlanPart> mixed = parts();
  mixed[0] = part(hosts.own(0), {8, {}});
  hosts.expect_error(mixed, {"rank 0"});
  hosts.check(parts(), 5);
}

}  // namespace
}  // namespace tilerail
