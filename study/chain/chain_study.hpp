#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "model/machine/topology.hpp"
#include "sched/chain/chain_plan.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail::study {

/// Chains of more factors have too many orders to simulate all.
inline constexpr std::size_t most_compared_factors = 5;

struct ChainQuestion {
  ChainProblem chain;  // as `checked` returns it
  const Topology& topology;
  std::vector<MemoryId> devices;
  Policy policy;
};

/// A product of a chain, planned by the policy and simulated.
struct SimulatedProduct {
  std::string text;  // "A (B C)"
  ChainStep step;
  Seconds simulated{0};
  std::int64_t tile = 0;
  std::vector<MemoryId> devices = {};
};

struct SimulatedChain {
  std::string order;  // "(A (B C))"
  std::vector<SimulatedProduct> products = {};
  Seconds predicted{0}, simulated{0};
};

/// Another way to take than the chosen one. Without products where it cannot be planned, and why.
struct ChainAlternative {
  std::string what;  // "order", or "left to right over the host"
  SimulatedChain chain;
  std::string error = {};
};

struct ChainStudy {
  std::size_t asked = 0;  // predictions that the choice took
  SimulatedChain chosen;
  /// Of few factors all other orders, each with its best places; then the naive way.
  std::vector<ChainAlternative> others = {};
};

/// Chooses by estimates and simulates the choice and its alternatives; `tick` is told how many of these are done.
/// Throws InputError where the chain cannot be planned, HardwareError in a build without a simulator.
ChainStudy study_chain(const ChainQuestion& question, const std::function<void(std::size_t, std::size_t)>& tick);

}  // namespace tilerail::study
