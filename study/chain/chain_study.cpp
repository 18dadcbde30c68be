#include "study/chain/chain_study.hpp"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <utility>

#include "model/base/error.hpp"
#include "sched/chain/product_plan.hpp"
#include "study/planning/judge.hpp"
#include "study/simulator.hpp"

namespace tilerail::study {
namespace {

class ChainStudies {
 public:
  explicit ChainStudies(const ChainQuestion& question)
      : question_{question},
        cost_{remembered(estimated_cost(question.topology, question.devices, question.policy))},
        judge_{judge_of(question.topology)},
        simulator_{simulator_of(question.topology)} {}

  std::size_t factors() const { return question_.chain.factors.size(); }
  std::vector<MemoryId> places() const { return chain_places(question_.chain, question_.topology, question_.devices); }

  ChainPlan plan(const ChainChoices& choices) const {
    return plan_chain(question_.chain, question_.topology, cost_, choices);
  }

  SimulatedChain simulated(const ChainPlan& plan) {
    const ChainOrder order = plan.order();
    SimulatedChain chain{order_text(order), {}, plan.total};
    for (const ChainStep& step : plan.steps) {
      const std::string text =
          fmt::format("{} {}", order_text(order, step.product.left()), order_text(order, step.product.right()));
      const Run& run = run_of(step);
      chain.products.push_back({text, step, run.makespan, run.tile, run.devices});
      chain.simulated += run.makespan;
    }
    return chain;
  }

  ChainAlternative alternative(std::string what, const ChainOrder& order, std::vector<MemoryId> places) {
    try {
      return {std::move(what), simulated(plan({std::move(places), order}))};
    } catch (const InputError& error) {
      return {std::move(what), {order_text(order)}, error.what()};
    }
  }

 private:
  struct Run {
    Seconds makespan{0};
    std::int64_t tile = 0;
    std::vector<MemoryId> devices;
  };

  /// Orders have products in common.
  const Run& run_of(const ChainStep& step) {
    const ProductKey key = key_of(step.problem, step.held);
    const auto known = runs_.find(key);
    if (known != runs_.end()) return known->second;
    const Plan plan =
        plan_product(step.problem, question_.topology, question_.devices, question_.policy, judge_, step.held);
    Run run{simulator_->execute(plan).makespan(), plan.tile, {plan.devices.begin(), plan.devices.end()}};
    return runs_.emplace(key, std::move(run)).first->second;
  }

  const ChainQuestion& question_;
  const ProductCost cost_;
  const Judge judge_;
  const std::unique_ptr<Executor> simulator_;
  std::map<ProductKey, Run> runs_;
};

}  // namespace

ChainStudy study_chain(const ChainQuestion& question, const std::function<void(std::size_t, std::size_t)>& tick) {
  ChainStudies studies{question};
  const std::vector<MemoryId> places = studies.places();
  const ChainPlan plan = studies.plan({places});
  std::vector<ChainOrder> orders;
  if (studies.factors() <= most_compared_factors) orders = all_orders(studies.factors());
  std::erase(orders, plan.order());
  const std::size_t all = orders.size() + 2;
  ChainStudy study{plan.asked, studies.simulated(plan)};
  for (const ChainOrder& order : orders) {
    tick(1 + study.others.size(), all);
    study.others.push_back(studies.alternative("order", order, places));
  }
  tick(all - 1, all);
  if (!question.topology.hosts().empty() && studies.factors() > least_factors)
    study.others.push_back(studies.alternative("left to right over the host", left_to_right(studies.factors()),
                                               {question.topology.hosts().front()}));
  return study;
}

}  // namespace tilerail::study
