#include "api/chain_planner.hpp"

#include <algorithm>
#include <utility>

#include "cost/estimate.hpp"
#include "sched/chain/product_plan.hpp"

namespace tilerail::api {
namespace {

// What locks and unlocks page-locked memory: docs/model.md#pageable-memory says where these come from.
constexpr Rate locking{24e9}, unlocking{60e9};

/// As in BLAS, a call may have any scalars. Its plan only has to know which are 0.
ChainProblem plannable(ChainProblem chain) {
  chain.alpha = chain.alpha == 0 ? 0 : 1, chain.beta = chain.beta == 0 ? 0 : 1;
  return chain;
}

/// Where the result's GPU has all inputs, a call reads them there rather than from a copy on each GPU.
GemmProblem at_home(GemmProblem product, const Topology& topology, std::span<const MemoryId> devices) {
  const auto is_there = [&](MemoryId place) { return place == product.place_c || topology.has_copies(place); };
  const bool is_device = std::ranges::find(devices, product.place_c) != devices.end();
  if (is_device && is_there(product.place_a) && is_there(product.place_b))
    product.place_a = product.place_b = product.place_c;
  return product;
}

}  // namespace

ChainPlanner::ChainPlanner(const Topology& topology, const CallPlanner& calls, std::size_t capacity)
    : topology_{topology}, calls_{calls}, resources_{topology}, known_{capacity} {}

ChainPlan ChainPlanner::plan(const ChainProblem& given, const std::vector<MemoryId>& devices, const Policy& policy,
                             const std::string& policy_name) {
  const Key key{plannable(given), devices, policy_name};
  if (const ChainPlan* known = known_.find(key)) return *known;
  Policy quick = policy;
  quick.judge_ops = 0;
  const ProductCost cost = remembered([&](const GemmProblem& problem, std::span<const Bytes> held) {
    const GemmProblem product = at_home(problem, topology_, devices);
    Plan plan = calls_.plan(product, devices, quick).plan;
    if (!fits_beside(plan, topology_, held)) plan = plan_beside(product, topology_, devices, quick, {}, held);
    return estimate_plan(plan, topology_, resources_).makespan;
  });
  const std::vector<MemoryId> places = chain_places(key.chain, topology_, devices);
  return known_.insert(key,
                       plan_chain(key.chain, topology_, cost, {places, {}, inverse(locking) + inverse(unlocking)}));
}

}  // namespace tilerail::api
