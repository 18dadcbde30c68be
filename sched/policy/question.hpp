#pragma once

#include <memory>
#include <span>

#include "cost/resources.hpp"
#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "sched/policy/fields.hpp"
#include "sched/policy/policy.hpp"
#include "sched/transport/link_routes.hpp"

namespace tilerail {

/// A planning problem. All referenced objects must outlive it and its planners.
struct Question {
  const GemmProblem&
      given;  // as returned by `checked`; all its matrices take memory, used or not
  const GemmProblem& problem;  // work_of(given): the part to plan
  const Topology& topology;
  const Resources& resources;         // of `topology`
  std::span<const MemoryId> devices;  // to plan for, or to choose from
  const Policy& policy;
  std::span<const double> shares =
      {};                  // of C, given by a model, one per device; empty: by the policy
  bool simulated = false;  // whether plans are simulated for comparison
  std::shared_ptr<LinkRoutes> link_routes = std::make_shared<LinkRoutes>();

  /// The question on the first device only, if the policy asks for that.
  Question on_first() const {
    return policy.device_choice == DeviceChoice::first && !devices.empty()
               ? on(devices.first(1))
               : *this;
  }
  /// The question on these devices only.
  Question on(std::span<const MemoryId> some,
              std::span<const double> their_shares = {}) const {
    return {given,  problem,      topology,  resources,  some,
            policy, their_shares, simulated, link_routes};
  }
  /// Whether the search may change the field.
  bool varies(std::string_view key) const { return simulated && may_change(policy, key); }
  /// The question without simulation.
  Question estimated() const {
    return {given,  problem, topology, resources,  devices,
            policy, shares,  false,    link_routes};
  }
  /// The question with another policy.
  Question by(const Policy& other) const {
    return {given, problem, topology,  resources,  devices,
            other, shares,  simulated, link_routes};
  }
};

}  // namespace tilerail
