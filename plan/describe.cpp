#include "plan/describe.hpp"

#include <fmt/format.h>

#include "model/base/text.hpp"
#include "model/base/units_text.hpp"

namespace tilerail {
namespace {

/// By PlanReason::Kind. 0, 1: the chosen candidate and its time; 2: its evaluator; 3, 4:
/// the rival and its gain; 5: count; 6: name; 7: plan cache; 8: owner.
constexpr std::array<std::string_view, PlanReason::kinds> sentences{
    "the only candidate",
    "{0}: the fastest of {5} by {2}",
    "{0}: of the {5} tried, {3} is estimated to be {4:.1f} % faster, too little to "
    "prefer it",
    "the best of {5} plans on sets of GPUs by the metric {6}",
    "its GPUs and shares are the best for {6} by PARALiA's model",
    "{7}: {1} by {2}, the fastest of {5}, found by version {8}",
    "{7} has no plan of this problem on these GPUs with this policy",
    "{7} is not used: it is for machine '{8}'",
    "{7}: its plan of version {8} is not used, because it is made differently now; tune "
    "again"};
static_assert(!sentences.back().empty());
constexpr std::array evaluators{"", "the estimate", "the simulator", "measurement"};

std::string sentence(const PlanReason& reason, const PlanOrigin& origin) {
  const auto& [kind, chosen, count, rival, name, owner] = reason;
  const auto candidate = [&](size_t i) {
    return i < origin.candidates.size() ? origin.candidates[i] : PlanCandidate{};
  };
  const PlanCandidate taken = candidate(chosen), faster = candidate(rival);
  return fmt::format(fmt::runtime(sentences[size_t(kind)]), taken.what,
                     seconds_text(taken.seconds), evaluators[size_t(taken.evaluator)],
                     faster.what, 100 * (1 - faster.seconds / taken.seconds), count, name,
                     "plan cache " + in_quotes(name), owner);
}

}  // namespace

std::string describe(const Plan& plan, OpId id) {
  const Op& op = plan.op(id);
  const Queue& queue = plan.queue(op.queue);
  const std::string &src = plan.memories[queue.src.index()],
                    &dst = plan.memories[queue.dst.index()];
  const std::string where = queue.kind == Queue::Kind::compute
                                ? fmt::format("compute on {}", dst)
                                : fmt::format("copy {}->{}", src, dst);
  return fmt::format("operation {} ({}, queue {}: {})", id.value, to_string(op.kind),
                     op.queue.value, where);
}

std::string reason_text(const PlanOrigin& origin, PlanReason::Kind from) {
  std::string text;
  for (const PlanReason& reason : origin.reasons)
    if (reason.kind >= from &&
        (reason.kind > PlanReason::only_candidate || origin.reasons.size() == 1))
      text += (text.empty() ? "" : "; ") + sentence(reason, origin);
  return text;
}

}  // namespace tilerail
