#include "sched/decided_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include "cost/resources.hpp"
#include "model/base/infeasible_error.hpp"
#include "sched/gemm/tile_scheduler.hpp"
#include "sched/policy/fields.hpp"
#include "sched/policy/made_decisions.hpp"
#include "sched/tasks/plan_checks.hpp"
#include "sched/tasks/workspace.hpp"

namespace tilerail {
namespace {

/// A question, with all objects it refers to.
struct OwnedQuestion {
  OwnedQuestion(const GemmProblem& given, const Topology& machine,
                std::span<const MemoryId> devices, const Policy& policy)
      : problem{checked(given)},
        work{work_of(problem)},
        resources{machine},
        question{
            Question{problem, work, machine, resources, devices, policy}.on_first()} {
    check_devices(machine, devices);
    check_places(problem, machine, devices);
  }
  OwnedQuestion(const OwnedQuestion&) = delete;
  OwnedQuestion& operator=(const OwnedQuestion&) = delete;

  const GemmProblem problem, work;
  const Resources resources;
  const Question question;
};

/// The policy's own decisions for these devices and this tile.
Decisions by_policy(const Question& question, int64_t tile) {
  return decide(question, tile, TileScheduler{question}.grid());
}

void check_times(const Question& q, std::span<const MemoryId> devices) {
  const GemmProblem& p = q.problem;
  for (const MemoryId device : devices) {
    if (std::ranges::find(q.devices, device) == q.devices.end())
      throw InputError{"devices", q.topology.processor_name(device),
                       "is not one of the usable GPUs"};
    if (p.routine != Routine::axpy && p.has_product() &&
        !q.topology.kernels_of(device).has_times(p.dtype, p.trans_a, p.trans_b))
      throw InputError{"devices", q.topology.processor_name(device),
                       fmt::format("has no GEMM times for {} {}{}", to_string(p.dtype),
                                   to_string(p.trans_a), to_string(p.trans_b))};
  }
}

Decisions made(const Question& question, const std::vector<PlanDecision>& text) {
  const std::vector<MemoryId> devices = made_devices(text, question.topology);
  check_times(question, devices);
  return with_made(by_policy(question.on(devices), made_tile(text)), text,
                   question.topology);
}

Plan plan_of(const Question& question, const Decisions& decisions) {
  Policy policy = question.policy;
  double& fraction = policy.choices.memory_fraction;
  policy.whole_memory = std::min(1.0, decisions.choices.memory_fraction / fraction);
  fraction = decisions.choices.memory_fraction;
  Plan plan = TileScheduler{question.on(decisions.devices).by(policy)}.plan(decisions);
  settle_graph(plan, question.topology);
  return plan;
}

std::map<std::string, std::string> by_key(const std::vector<PlanDecision>& text) {
  std::map<std::string, std::string> values;
  for (const auto& [key, value] : text) values[key] = value;
  return values;
}

/// The decisions after a field is changed to another value.
Decisions with_value(const Question& question, Decisions decided, std::string_view key,
                     std::string_view value) {
  Policy changed_policy = question.policy;
  changed_policy.k_split = decided.grid.layers, changed_policy.choices = decided.choices;
  set_value(changed_policy, key, value);
  const Decisions changed =
      by_policy(question.on(decided.devices).by(changed_policy), decided.choices.tile);
  if (key == "grid")
    decided.grid = changed.grid;
  else if (key == "shares")
    decided.shares = changed.shares;
  else
    decided.choices = changed.choices;
  return decided;
}

/// Whether these decisions produce the same plan.
bool make_the_same(const Question& question, const Decisions& decisions,
                   const Plan& plan) {
  auto other = feasible([&] { return plan_of(question, decisions); }).result;
  if (!other) return false;
  other->policy = plan.policy;
  return content_hash(*other) == content_hash(plan);
}

}  // namespace

Plan plan_decided(const GemmProblem& problem, const Topology& topology,
                  std::span<const MemoryId> devices, const Policy& policy,
                  const std::vector<PlanDecision>& text) {
  const OwnedQuestion owned{problem, topology, devices, policy};
  Plan plan = plan_of(owned.question, made(owned.question, text));
  plan.origin.given.assign(devices.begin(), devices.end());
  return plan;
}

std::vector<PlanDecision> decisions_of(const Plan& plan, const Topology& topology,
                                       const Policy& policy) {
  const OwnedQuestion owned{plan.gemm(), topology, plan.devices, policy};
  const Decisions base = by_policy(owned.question, plan.tile);
  std::vector<PlanDecision> text = plan.origin.decisions;
  // The plan's text contains four digits of shares, possibly the policy's own shares.
  const auto shares = by_key(to_text(base, topology)).at("shares");
  std::erase_if(text, [&](const PlanDecision& d) {
    return d.key == "shares" && d.value == shares;
  });
  return exact_text(with_made(base, text, topology), topology);
}

std::vector<std::string> without_effect(const Plan& plan, const Topology& topology,
                                        const Policy& policy) {
  const OwnedQuestion owned{plan.gemm(), topology, plan.origin.given, policy};
  const Decisions decided = made(owned.question, decisions_of(plan, topology, policy));
  std::vector<std::string> named;
  for (const auto& [key, value, plain] : policy.overridden) {
    if (is_of_the_search(policy, key) || key == "tile" || value == plain) continue;
    if (make_the_same(owned.question, with_value(owned.question, decided, key, plain),
                      plan))
      named.push_back(
          fmt::format("{}={}: the plan with {}={} is the same", key, value, key, plain));
  }
  return named;
}

}  // namespace tilerail
