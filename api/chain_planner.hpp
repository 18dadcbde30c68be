#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api/call_planner.hpp"
#include "api/lru_cache.hpp"
#include "cost/resources.hpp"
#include "sched/chain/chain_plan.hpp"

namespace tilerail::api {

/// Plans chains by what their products are estimated to take as calls, and keeps the plans.
class ChainPlanner {
 public:
  /// Keeps references to the topology and the planner of its calls.
  ChainPlanner(const Topology& topology, const CallPlanner& calls, std::size_t capacity);

  /// `chain` as `checked` returns it. Throws InputError.
  ChainPlan plan(const ChainProblem& chain, const std::vector<MemoryId>& devices, const Policy& policy,
                 const std::string& policy_name);
  void forget() { known_.clear(); }

 private:
  struct Key {
    ChainProblem chain;
    std::vector<MemoryId> devices;
    std::string policy;
    auto operator<=>(const Key&) const = default;
  };

  const Topology& topology_;
  const CallPlanner& calls_;
  Resources resources_;
  LruCache<Key, ChainPlan> known_;
};

}  // namespace tilerail::api
