// Products of several matrices: in which order, and where what lies between them.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <set>

#include "cost/estimate.hpp"
#include "model/base/error.hpp"
#include "sched/chain/product_plan.hpp"
#include "tests/support/chain_cases.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/two_gpu.hpp"

namespace tilerail::testing {
namespace {

using ::testing::ElementsAre;

class Chain : public OnTwoGpu {
 protected:
  ChainPlan planned(const ChainProblem& chain, std::optional<ChainOrder> order = {}) {
    const ProductCost cost = estimated_cost(machine, machine.gpus(), policy("tilerail"));
    return plan_chain(chain, machine, cost, {chain_places(chain, machine, machine.gpus()), std::move(order)});
  }
};

TEST(ChainOrders, AreThoseOfCatalanAndDiffer) {
  for (const auto& [factors, count] : {std::pair{2, 1}, {3, 2}, {4, 5}, {5, 14}, {6, 42}}) {
    std::set<std::string> texts;
    for (const ChainOrder& order : all_orders(static_cast<std::size_t>(factors))) {
      EXPECT_EQ(order.size(), static_cast<std::size_t>(factors) - 1);
      texts.insert(order_text(order));
    }
    EXPECT_EQ(texts.size(), static_cast<std::size_t>(count));
  }
  EXPECT_EQ(order_text(left_to_right(4)), "(((A B) C) D)");
  EXPECT_EQ(order_text({{2, 2, 3}, {1, 1, 3}, {0, 0, 3}}), "(A (B (C D)))");
  EXPECT_EQ(order_text({{2, 2, 3}, {1, 1, 3}, {0, 0, 3}}, {1, 3}), "(B (C D))");
}

TEST(ChainProblems, SayWhichFactorIsWrong) {
  const auto with = [](auto change) {
    return [change] {
      ChainProblem chain = chain_of({8, 4, 6, 2});
      change(chain);
      checked(chain);
    };
  };
  expect_input_error(with([](auto& c) { c.factors.resize(1); }), {"1 factors", "2 to 12"});
  expect_input_error(with([](auto& c) { c.factors.resize(13); }), {"13 factors", "2 to 12"});
  expect_input_error(with([](auto& c) { c.factors[1].rows = c.factors[1].ld = 5; }),
                     {"factor 2 (B)", "op(B) has 5 rows", "4", "op(A)"});
  expect_input_error(with([](auto& c) { c.factors[2].trans = Trans::yes; }), {"factor 3 (C)", "op(C) has 2 rows", "6"});
  expect_input_error(with([](auto& c) { c.factors[0].ld = 7; }), {"factor 1 (A)", "ld = 7", "8"});
  expect_input_error(with([](auto& c) { c.factors[0].rows = -1; }), {"factor 1 (A)", "-1 x 4"});
  expect_input_error(with([](auto& c) { c.factors[2].ld = std::int64_t{1} << 40, c.factors[2].cols <<= 30; }),
                     {"factor 3 (C)", "2^60 bytes"});
  expect_input_error(with([](auto& c) { c.ld = 7; }), {"the result", "ld = 7", "8"});
}

TEST(ChainProblems, HaveProductsWithTheTransposesAndScalarsWhereTheyBelong) {
  ChainProblem chain;
  chain.alpha = 2, chain.beta = 3, chain.ld = 90;
  chain.factors = {{80, 40, 81, Trans::no, MemoryId{1}},
                   {60, 40, 61, Trans::yes, MemoryId{2}},
                   {60, 20, 62, Trans::no, MemoryId{0}}};
  chain = checked(chain);
  const GemmProblem first = problem_of(chain, {0, 0, 1}, MemoryId{1}, MemoryId{2}, MemoryId{0});
  EXPECT_THAT((std::array{first.m, first.n, first.k, first.lda, first.ldb}), ElementsAre(80, 60, 40, 81, 61));
  EXPECT_EQ(first.trans_b, Trans::yes);
  EXPECT_THAT((std::array{first.alpha, first.beta}), ElementsAre(1, 0));
  EXPECT_EQ(first.ldc % 16, 0) << "columns start at 128 bytes";
  const GemmProblem last = problem_of(chain, {0, 1, 2}, MemoryId{0}, MemoryId{0}, MemoryId{1});
  EXPECT_THAT((std::array{last.m, last.n, last.k, last.lda, last.ldb, last.ldc}),
              ElementsAre(80, 20, 60, first.ldc, 62, 90));
  EXPECT_THAT((std::array{last.alpha, last.beta}), ElementsAre(2, 3));
  EXPECT_EQ(last.trans_a, Trans::no);
  EXPECT_EQ(intermediate_bytes(chain, {0, 1}), first.ldc * 60 * 8);
}

TEST(ChainPlaces, AreThoseOfMatricesThenOtherGpusAsFarAsTheyPayThenTheHost) {
  const Topology machine = shipped("hgx-h200");
  const std::vector<MemoryId> gpus = machine.gpus();
  const MemoryId host = machine.hosts().front();
  ChainProblem chain = chain_of({64, 64, 64, 64}, host);
  chain.factors[1].place = gpus[5], chain.place = gpus[3];
  EXPECT_THAT(chain_places(chain, machine, gpus),
              ElementsAre(gpus[5], gpus[3], gpus[0], gpus[1], gpus[2], gpus[4], gpus[6], gpus[7], host));
  EXPECT_THAT(chain_places(chain, machine, std::array{gpus[3], gpus[4]}), ElementsAre(gpus[3], gpus[4], host));
  const ChainProblem longest = chain_of(std::vector<std::int64_t>(most_factors + 1, 64), host);
  EXPECT_THAT(chain_places(longest, machine, gpus), ElementsAre(gpus[0], host));
}

// Five factors take 180 predictions with three places, 344 with four and more than 500 with five.
TEST(ChainPlaces, AreAsManyGpusAsPayBesideTheHost) {
  const Topology machine = shipped("hgx-h200");
  const ChainProblem chain = chain_of({64, 64, 64, 64, 64, 64}, machine.hosts().front());
  EXPECT_EQ(chain_products(5, 3), 180U);
  EXPECT_EQ(chain_products(5, 4), 344U);
  EXPECT_GT(chain_products(5, 5), most_chain_products);
  EXPECT_EQ(chain_places(chain, machine, machine.gpus()).size(), 4U);
}

/// Of three factors: two pairs into P places, and the result from either.
TEST(ChainPlaces, BoundThePredictions) {
  EXPECT_EQ(chain_products(2, 9), 1U);
  EXPECT_EQ(chain_products(3, 5), 2U * 5 + 2 * 5);
  EXPECT_EQ(chain_products(4, 2), 3U * 2 + 2 * 2 * (2 * 2) + (2 * 2 + 2 * 2));
  EXPECT_EQ(chain_products(most_factors, 2), 1742U) << "docs/model.md";
}

TEST_F(Chain, MultipliesTheSmallFirstAndLeavesItOnAGpu) {
  const ChainPlan plan = planned(chain_of({4096, 256, 4096, 512}, host));
  EXPECT_EQ(order_text(plan.order()), "(A (B C))");
  EXPECT_TRUE(machine.is_gpu(plan.steps.front().place));
  EXPECT_EQ(plan.steps.back().place, host);
  EXPECT_EQ(plan.total, plan.steps[0].time + plan.steps[1].time);
  const ProductCost cost = estimated_cost(machine, machine.gpus(), policy("tilerail"));
  for (const ChainStep& step : plan.steps) EXPECT_EQ(step.time, cost(step.problem, step.held));
}

TEST_F(Chain, KeepsToAnOrderAndToPlacesThatAreGiven) {
  const ChainProblem chain = chain_of({4096, 256, 4096, 512}, host);
  const ChainPlan free = planned(chain), left = planned(chain, left_to_right(3));
  EXPECT_EQ(order_text(left.order()), "((A B) C)");
  EXPECT_GT(left.total, free.total);
  const ProductCost cost = estimated_cost(machine, machine.gpus(), policy("tilerail"));
  const ChainPlan over_host = plan_chain(chain, machine, cost, {{host}, left_to_right(3)});
  EXPECT_EQ(over_host.steps.front().place, host);
  EXPECT_GT(over_host.total, left.total);
}

/// (A B) and (C D) have 537 MB each, a GPU 1 GB: beside both there is no room for tiles.
TEST_F(Chain, LeavesAGpuWhereMemoryIsShort) {
  const ChainProblem chain = chain_of({8192, 64, 8192, 64, 8192}, host);
  const ChainOrder both{{0, 0, 1}, {2, 2, 3}, {0, 1, 3}};
  const ProductCost cost = estimated_cost(machine, machine.gpus(), policy("tilerail"));
  const ChainPlan plan = plan_chain(chain, machine, cost, {{gpu0, host}, both});
  EXPECT_EQ(std::ranges::count(plan.steps, gpu0, &ChainStep::place), 1);
  for (const ChainStep& step : plan.steps) {
    const Plan product = plan_product(step.problem, machine, machine.gpus(), policy("tilerail"), {}, step.held);
    EXPECT_TRUE(fits_beside(product, machine, step.held));
  }
  EXPECT_EQ(plan.steps[1].held[gpu0.index()], Bytes{8192.0 * 8192 * 8} * (plan.steps[0].place == gpu0 ? 1.0 : 0.0));
}

/// A B, on the host, is larger than C D, on gpu0, which finds no room beside it: C D gives way, as only GPUs are short.
TEST_F(Chain, LeavesWhatHostsHoldThere) {
  const ChainProblem chain = chain_of({256, 64, 256, 64, 128}, host);
  const ChainOrder both{{0, 0, 1}, {2, 2, 3}, {0, 1, 3}};
  const ProductCost cost = [&](const GemmProblem& product, std::span<const Bytes> held) -> Seconds {
    const bool is_right = product.k == 64 && product.n == 128, on_gpu = product.place_c == gpu0;
    if (is_right && on_gpu && held[host.index()] >= Bytes{3.0 * 256 * 64 * 8 + 256 * 256 * 8}) throw InputError{"full"};
    return Seconds{is_right == on_gpu ? 1.0 : 2.0};
  };
  const ChainPlan plan = plan_chain(chain, machine, cost, {{gpu0, host}, both});
  EXPECT_EQ(plan.steps[0].place, host);
  EXPECT_EQ(plan.steps[1].place, host);
}

/// With 900 MB of others' matrices on gpu0, plans that took more than the rest take less.
TEST_F(Chain, PlansAProductWithWhatOthersLeave) {
  const GemmProblem problem = cube(8192);
  std::vector<Bytes> held(machine.memories().size(), Bytes{0});
  const Policy how = policy("tilerail", {"devices=all"});
  const Plan alone = plan_product(problem, machine, machine.gpus(), how, {}, held);
  held[gpu0.index()] = Bytes{900e6};
  EXPECT_FALSE(fits_beside(alone, machine, held));
  const Plan beside = plan_product(problem, machine, machine.gpus(), how, {}, held);
  EXPECT_TRUE(fits_beside(beside, machine, held));
  EXPECT_LE(beside.peak_bytes[gpu0.index()], 100'000'000);
  EXPECT_GT(beside.peak_bytes[gpu0.index()], 0);
}

/// B C has 256 x 512 elements.
TEST_F(Chain, CountsTheLockingOfHostMemoryWhereItIsTold) {
  const ChainProblem chain = chain_of({4096, 256, 4096, 512}, host);
  const ProductCost cost = estimated_cost(machine, machine.gpus(), policy("tilerail"));
  const ChainOrder order{{1, 1, 2}, {0, 0, 2}};
  const ChainPlan locked = plan_chain(chain, machine, cost, {{host}, order, SecondsPerByte{1e-9}});
  const ChainPlan free = plan_chain(chain, machine, cost, {{host}, order});
  EXPECT_NEAR((locked.total - free.total).value, 256 * 512 * 8 * 1e-9, 1e-12);
  EXPECT_EQ(locked.steps.back().time, free.steps.back().time) << "the result is the caller's";
  const ChainPlan on_gpu = plan_chain(chain, machine, cost, {{gpu0}, order, SecondsPerByte{1e-9}});
  EXPECT_EQ(on_gpu.total, plan_chain(chain, machine, cost, {{gpu0}, order}).total);
}

/// A^4, of which gpu0 holds 288 MB, beside its square and with room for tiles.
TEST_F(Chain, HoldsAMatrixOnceThatIsSeveralFactors) {
  ChainProblem chain = chain_of({6000, 6000, 6000, 6000, 6000}, gpu0);
  expect_input_error([&] { planned(chain); }, {"other matrices of the chain hold 864.0 MB of 'gpu0'"});
  chain.place = host;
  for (std::size_t i = 1; i < chain.factors.size(); ++i) chain.factors[i].same_as = 0;
  const ChainPlan plan = planned(chain);
  EXPECT_LE(plan.steps.back().held[gpu0.index()], Bytes{288e6});
}

/// The last product reads A as its second factor: nothing of it is held beside, though it is the first one, too.
TEST_F(Chain, HoldsNothingBesideOfAMatrixThatIsAnOperand) {
  ChainProblem chain = chain_of({512, 512, 512, 512}, gpu0);
  chain.factors[2].same_as = 0;
  const ChainPlan plan = planned(chain, ChainOrder{{1, 1, 2}, {0, 0, 2}});
  const Bytes matrix{512.0 * 512 * 8};
  EXPECT_EQ(plan.steps[0].held[gpu0.index()], matrix) << "the result";
  EXPECT_EQ(plan.steps[1].held[gpu0.index()], matrix) << "B";
}

/// A prediction that is wanted again, beside the same intermediates, counts once.
TEST_F(Chain, CountsPredictionsOnce) {
  std::set<ProductKey> known;
  const ProductCost cost = [&](const GemmProblem& problem, std::span<const Bytes> held) {
    known.insert(key_of(problem, held));
    return Seconds{1};
  };
  const ChainProblem chain = chain_of({64, 64, 64, 64}, host);
  const ChainPlan plan = plan_chain(chain, machine, cost, {chain_places(chain, machine, machine.gpus())});
  EXPECT_EQ(plan.asked, known.size());
}

TEST_F(Chain, SaysWhyThereIsNoWay) {
  ChainProblem chain = chain_of({64, 64, 64, 64}, host);
  chain.dtype = DType::tf32;
  expect_input_error([&] { planned(chain); }, {"--dtype", "tf32"});
  expect_input_error([&] { planned(chain_of({16384, 16384, 64, 64}, gpu0)); }, {"gpu0", "1.000 GB"});
}

/// A B can be made in no place, but nobody needs it: what stands in the way is the room for the result.
TEST_F(Chain, TellsOfTheLongestPartThatCannotBeMade) {
  const ChainProblem chain = chain_of({64, 32, 48, 16}, host);
  const ProductCost cost = [&](const GemmProblem& product, std::span<const Bytes>) -> Seconds {
    if (product.m == 64) throw InputError{product.n == 48 ? "A B" : "the result"};
    return Seconds{1};
  };
  expect_input_error([&] { plan_chain(chain, machine, cost, {{host}}); }, {"the result"});
}

TEST_F(Chain, AsksOnceOfEachProduct) {
  int asked = 0;
  const ProductCost cost = remembered([&](const GemmProblem& problem, std::span<const Bytes>) -> Seconds {
    ++asked;
    if (problem.m == 1) throw InputError{"made to fail"};
    return Seconds{1.0};
  });
  const std::vector<Bytes> none, some{Bytes{1}};
  GemmProblem problem = cube(8);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(cost(problem, none), Seconds{1.0});
  EXPECT_EQ(asked, 1);
  cost(problem, some);
  EXPECT_EQ(asked, 2);
  problem.m = 1;
  for (int i = 0; i < 2; ++i) expect_input_error([&] { cost(problem, none); }, {"made to fail"});
  EXPECT_EQ(asked, 3);
}

}  // namespace
}  // namespace tilerail::testing
