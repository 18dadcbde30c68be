#pragma once

#include <span>

#include "cost/resources.hpp"
#include "model/machine/topology.hpp"
#include "model/problem.hpp"
#include "sched/policy/fields.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail {

/// What planners decide about. All that it refers to has to outlive it and them.
struct Question {
  const GemmProblem&
      given;  // as `checked` returns it; all its matrices take memory, used or not
  const GemmProblem& problem;  // work_of(given): what there is to plan
  const Topology& topology;
  const Resources& resources;         // of that machine
  std::span<const MemoryId> devices;  // to plan for, or to choose from
  const Policy& policy;
  std::span<const double> shares =
      {};               // of C, given by a model, one a device; empty: as the policy says
  bool judged = false;  // whether plans are simulated to choose one

  /// The same with the first of several devices alone, where the policy wants no more.
  Question on_first() const {
    return policy.device_choice == DeviceChoice::first && !devices.empty()
               ? on(devices.first(1))
               : *this;
  }
  /// The same with these devices only.
  Question on(std::span<const MemoryId> some,
              std::span<const double> their_shares = {}) const {
    return {given, problem, topology, resources, some, policy, their_shares, judged};
  }
  /// Whether the search may give the field other values than the policy's.
  bool varies(std::string_view key) const {
    return judged && policy.ways == Ways::search && !overrides(policy, key);
  }
  /// The same without a judge.
  Question estimated() const {
    return {given, problem, topology, resources, devices, policy, shares, false};
  }
  /// The same by another policy.
  Question by(const Policy& other) const {
    return {given, problem, topology, resources, devices, other, shares, judged};
  }
};

}  // namespace tilerail
