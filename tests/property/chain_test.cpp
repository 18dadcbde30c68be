// Chains against all of their orders with all places of intermediates, at costs that are drawn.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>
#include <map>

#include "model/base/error.hpp"
#include "sched/chain/chain_plan.hpp"
#include "tests/property/random_cases.hpp"

namespace tilerail::testing {
namespace {

struct ChainCase {
  Topology machine;
  ChainProblem chain;
  std::vector<MemoryId> places;
  std::uint64_t seed = 0;
};

/// No two sides are equal, so that a product's sizes tell which factors it has. Their products are exact in doubles.
ChainCase random_chain(const std::vector<std::int64_t>& capacities) {
  ChainCase c{test_machine(capacities), {}, {}, *rc::gen::arbitrary<std::uint64_t>()};
  const auto factors = pick<std::size_t>({2, 3, 4, 5});
  const std::vector<MemoryId> gpus = c.machine.gpus();
  const auto memory = [&] { return MemoryId{pick<std::size_t>({0, 1, 2})}; };
  for (std::size_t i = 0; i < factors; ++i) {
    const Trans trans = pick({Trans::no, Trans::yes});
    ChainFactor factor{static_cast<std::int64_t>(i + 2), static_cast<std::int64_t>(i + 3), 0, trans, memory()};
    if (trans == Trans::yes) std::swap(factor.rows, factor.cols);
    c.chain.factors.push_back(factor);
  }
  c.chain.place = memory();
  c.chain = checked(c.chain);
  c.places = gpus;
  c.places.push_back(c.machine.hosts().front());
  return c;
}

/// Of 1 to 8 s: ties are common.
Seconds drawn(const GemmProblem& p, std::uint64_t seed) {
  std::uint64_t mixed = seed;
  for (const std::int64_t part :
       {p.m, p.n, p.k, std::int64_t{p.place_a.value}, std::int64_t{p.place_b.value}, std::int64_t{p.place_c.value}})
    mixed = (mixed ^ static_cast<std::uint64_t>(part)) * 0x9E3779B97F4A7C15, mixed ^= mixed >> 29;
  return Seconds{1.0 + static_cast<double>(mixed % 8)};
}

double best_of_all(const ChainCase& c, const ChainOrder& order, std::size_t step, std::map<ChainSpan, MemoryId>& made) {
  if (step == order.size()) return 0;
  const ChainProduct& product = order[step];
  const auto place_of = [&](const ChainSpan& span) {
    return span.is_factor() ? c.chain.factors[span.first].place : made.at(span);
  };
  const bool is_last = step + 1 == order.size();
  double best = std::numeric_limits<double>::infinity();
  for (const MemoryId place : is_last ? std::vector{c.chain.place} : c.places) {
    const GemmProblem problem =
        problem_of(c.chain, product, place_of(product.left()), place_of(product.right()), place);
    made[product.whole()] = place;
    best = std::min(best, drawn(problem, c.seed).value + best_of_all(c, order, step + 1, made));
  }
  return best;
}

/// Every factor and every intermediate is used once, after it is there.
void check_steps(const ChainPlan& plan, const ChainCase& c) {
  RC_ASSERT(plan.steps.size() + 1 == c.chain.factors.size());
  std::map<ChainSpan, MemoryId> there;
  for (std::size_t i = 0; i < c.chain.factors.size(); ++i) there[{i, i}] = c.chain.factors[i].place;
  for (const ChainStep& step : plan.steps) {
    const auto left = there.extract(step.product.left()), right = there.extract(step.product.right());
    RC_ASSERT(!left.empty() && !right.empty());
    RC_ASSERT(step.problem.place_a == left.mapped() && step.problem.place_b == right.mapped());
    RC_ASSERT(step.problem.place_c == step.place);
    there[step.product.whole()] = step.place;
  }
  RC_ASSERT(there.size() == 1U && there.begin()->second == c.chain.place);
}

TEST(ChainProperty, NoOrderWithAnyPlacesIsBetter) {
  EXPECT_TRUE(rc::check("the plan is the best of all", [] {
    const ChainCase c = random_chain({1 << 30, 1 << 30});
    const ProductCost cost = [&](const GemmProblem& problem, std::span<const Bytes>) { return drawn(problem, c.seed); };
    const ChainPlan plan = plan_chain(c.chain, c.machine, cost, {c.places});
    check_steps(plan, c);
    double best = std::numeric_limits<double>::infinity();
    for (const ChainOrder& order : all_orders(c.chain.factors.size())) {
      std::map<ChainSpan, MemoryId> made;
      const double of_order = best_of_all(c, order, 0, made);
      best = std::min(best, of_order);
      RC_ASSERT(plan_chain(c.chain, c.machine, cost, {c.places, order}).total.value == of_order);
    }
    RC_ASSERT(plan.total.value == best);
    RC_ASSERT(plan.asked <= chain_products(c.chain.factors.size(), c.places.size()) + plan.steps.size());
  }));
}

/// Bytes that a memory holds while a step runs, found from the steps alone.
double bytes_at(const ChainPlan& plan, const ChainCase& c, std::size_t now, MemoryId memory) {
  double bytes = 0;
  const auto add = [&](MemoryId place, std::int64_t rows, std::int64_t cols) {
    if (place == memory) bytes += static_cast<double>(rows * cols * 8);
  };
  for (const ChainFactor& factor : c.chain.factors) add(factor.place, factor.rows, factor.cols);
  add(c.chain.place, c.chain.rows(), c.chain.cols());
  for (std::size_t made = 0; made + 1 < plan.steps.size(); ++made) {
    const ChainSpan span = plan.steps[made].product.whole();
    const auto use = std::ranges::find_if(
        plan.steps, [&](const ChainStep& step) { return step.product.left() == span || step.product.right() == span; });
    if (made <= now && now <= static_cast<std::size_t>(use - plan.steps.begin()))
      add(plan.steps[made].place, c.chain.factors[span.first].op_rows(), c.chain.factors[span.last].op_cols());
  }
  return bytes;
}

/// Products need their operands, their result and what is held besides; the host has room for all.
TEST(ChainProperty, IntermediatesFitBesideEachOther) {
  EXPECT_TRUE(rc::check("no GPU holds more than it has room for", [] {
    const auto room = pick<std::int64_t>({0, 50, 100, 200, 400, 800, 1600});
    ChainCase c = random_chain({1500, 1500});
    std::vector<double> capacity(c.machine.memories().size(), std::numeric_limits<double>::infinity());
    for (const MemoryId gpu : c.machine.gpus()) {
      capacity[gpu.index()] = static_cast<double>(room);
      for (ChainFactor& factor : c.chain.factors)
        if (factor.place == gpu) capacity[gpu.index()] += static_cast<double>(factor.rows * factor.cols * 8);
      if (c.chain.place == gpu) capacity[gpu.index()] += static_cast<double>(c.chain.rows() * c.chain.cols() * 8);
    }
    const ProductCost cost = [&](const GemmProblem& p, std::span<const Bytes> held) {
      for (const MemoryId gpu : c.machine.gpus()) {
        double bytes = held[gpu.index()].value;
        if (p.place_a == gpu) bytes += static_cast<double>(p.m * p.k * 8);
        if (p.place_b == gpu) bytes += static_cast<double>(p.k * p.n * 8);
        if (p.place_c == gpu) bytes += static_cast<double>(p.m * p.n * 8);
        if (bytes > capacity[gpu.index()]) throw InputError{"full"};
      }
      return drawn(p, c.seed);
    };
    const ChainPlan plan = plan_chain(c.chain, c.machine, cost, {c.places});
    check_steps(plan, c);
    for (std::size_t now = 0; now < plan.steps.size(); ++now)
      for (const MemoryId gpu : c.machine.gpus()) RC_ASSERT(bytes_at(plan, c, now, gpu) <= capacity[gpu.index()]);
  }));
}

}  // namespace
}  // namespace tilerail::testing
