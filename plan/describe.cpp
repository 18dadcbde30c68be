#include "plan/describe.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "model/base/text.hpp"
#include "model/base/units_text.hpp"

namespace tilerail {
namespace {

/// By PlanReason::Kind.
constexpr std::array<std::string_view, PlanReason::kinds> sentences{
    "the only candidate",
    "{taken}: the fastest of {count} by the {evaluator}",
    "{taken}: of the {count} tried, {rival} is estimated to be {gain:.1f} % faster, too "
    "little to prefer it",
    "the best of {count} plans on sets of GPUs by the metric {name}",
    "its GPUs and shares are the best for {name} by PARALiA's model",
    "{cache}: {time} by the {evaluator}, the fastest of {count}, found by version "
    "{owner}",
    "{cache} has no plan of this problem on these GPUs with this policy",
    "{cache} is not used: it is for machine '{owner}'",
    "{cache}: its plan of version {owner} is not used, because it is made differently "
    "now; tune again"};
static_assert(!sentences.back().empty());

std::string sentence(const PlanReason& reason, const PlanOrigin& origin) {
  const auto& [kind, chosen, count, rival, name, owner] = reason;
  const auto candidate = [&](size_t i) {
    return i < origin.candidates.size() ? origin.candidates[i] : PlanCandidate{};
  };
  const PlanCandidate taken = candidate(chosen), faster = candidate(rival);
  using fmt::arg;
  return fmt::format(fmt::runtime(sentences[size_t(kind)]), arg("taken", taken.what),
                     arg("time", seconds_text(taken.seconds)),
                     arg("evaluator", to_string(taken.evaluator)), arg("count", count),
                     arg("rival", faster.what),
                     arg("gain", 100 * (1 - faster.seconds / taken.seconds)),
                     arg("name", name), arg("owner", owner),
                     arg("cache", "plan cache " + in_quotes(name)));
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
