#include "plan/graph.hpp"

#include <numeric>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// Calls visit(before, after) for every edge of the plan.
template <class Visit>
void for_each_edge(const Plan& plan, Visit visit) {
  std::vector<OpId> last(plan.queues.size(), OpId{-1});  // by queue
  for (const auto i : indices(plan.ops)) {
    const OpId op{i};
    for (OpId dep : plan.deps_of(op)) visit(dep, op);
    OpId& previous = last[plan.ops[i].queue.index()];
    if (previous.value >= 0) visit(previous, op);
    previous = op;
  }
}

}  // namespace

PlanGraph::PlanGraph(const Plan& plan)
    : begin_(plan.ops.size() + 1), waits_for_(plan.ops.size()) {
  // Counting sort by predecessor: begin_ holds the ends first and decreases to the begins
  // as edges are filled in.
  for_each_edge(plan, [this](OpId before, OpId after) {
    ++begin_[before.index()];
    ++waits_for_[after.index()];
  });
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  successors_.resize(begin_.back());
  for_each_edge(plan, [this](OpId before, OpId after) {
    successors_[--begin_[before.index()]] = after;
  });
}

}  // namespace tilerail
