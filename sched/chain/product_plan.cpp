#include "sched/chain/product_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "cost/estimate.hpp"
#include "model/base/error.hpp"
#include "model/base/text.hpp"
#include "plan/memory_needs.hpp"
#include "sched/scheduler.hpp"

namespace tilerail {
namespace {

std::vector<MemoryNeed> with_parts(std::span<const Bytes> held, const Topology& topology,
                                   std::span<const MemoryId> devices) {
  std::vector<MemoryNeed> needs;
  for (const Bytes bytes : held) needs.push_back({bytes.value, 0});
  return needs_of_parts(std::move(needs), topology, devices);
}

/// The machine with that much of its memories taken.
Topology without(const Topology& topology, std::span<const Bytes> held) {
  Topology::Description less = topology.description();
  const std::vector<MemoryNeed> needs = with_parts(held, topology, topology.gpus());
  for (std::size_t i = 0; i < less.memories.size(); ++i)
    if (auto& capacity = less.memories[i].capacity)
      capacity = Bytes{std::max(1.0, capacity->value - needs[i].matrices)};
  return Topology{std::move(less)};
}

}  // namespace

Plan plan_beside(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices,
                 const Policy& policy, const Judge& judge, std::span<const Bytes> held) try {
  return plan_gemm(problem, without(topology, held), devices, policy, judge);
} catch (const InputError& error) {
  std::string others;
  for (std::size_t i = 0; i < held.size(); ++i)
    if (held[i] > Bytes{0})
      others += fmt::format("{}{} of '{}'", others.empty() ? "" : ", ", bytes_text(held[i].value),
                            topology.memories()[i].name);
  throw InputError{fmt::format("{}; other matrices of the chain hold {}", error.what(), others)};
}

bool fits_beside(const Plan& plan, const Topology& topology, std::span<const Bytes> held) {
  const std::vector<MemoryNeed> others = with_parts(held, topology, plan.devices);
  const std::vector<MemoryNeed> needs = needs_of_parts(memory_needs(plan), topology, plan.devices);
  for (std::size_t i = 0; i < needs.size(); ++i) {
    const auto& capacity = topology.memories()[i].capacity;
    if (capacity && needs[i].total() + others[i].matrices > capacity->value) return false;
  }
  return true;
}

Plan plan_product(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices,
                  const Policy& policy, const Judge& judge, std::span<const Bytes> held) {
  Plan plan = plan_gemm(problem, topology, devices, policy, judge);
  if (fits_beside(plan, topology, held)) return plan;
  return plan_beside(problem, topology, devices, policy, judge, held);
}

ProductCost estimated_cost(const Topology& topology, std::span<const MemoryId> devices, const Policy& policy) {
  Policy quick = policy;
  quick.judge_ops = 0;
  return [&topology, devices, quick, resources = std::make_shared<const Resources>(topology)](
             const GemmProblem& problem, std::span<const Bytes> held) {
    return estimate_plan(plan_product(problem, topology, devices, quick, {}, held), topology, *resources).makespan;
  };
}

ProductKey key_of(const GemmProblem& p, std::span<const Bytes> held) {
  return {{p.m, p.n, p.k, p.lda, p.ldb, p.ldc},
          p.dtype,
          {p.trans_a, p.trans_b},
          {p.alpha == 0, p.beta == 0},
          {p.place_a, p.place_b, p.place_c},
          {held.begin(), held.end()}};
}

ProductCost remembered(ProductCost cost) {
  using Answer = std::variant<Seconds, InputError>;
  return [cost = std::move(cost), known = std::make_shared<std::map<ProductKey, Answer>>()](
             const GemmProblem& problem, std::span<const Bytes> held) {
    const auto ask = [&]() -> Answer {
      try {
        return cost(problem, held);
      } catch (const InputError& error) {
        return error;
      }
    };
    const ProductKey key = key_of(problem, held);
    auto found = known->find(key);
    if (found == known->end()) found = known->emplace(key, ask()).first;
    if (const auto* error = std::get_if<InputError>(&found->second)) throw InputError{*error};
    return std::get<Seconds>(found->second);
  };
}

}  // namespace tilerail
