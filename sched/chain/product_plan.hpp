#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "plan/plan.hpp"
#include "sched/chain/chain_plan.hpp"
#include "sched/choose/judge.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail {

/// Whether tiles and matrices of the plan fit in memories beside what these hold already, by MemoryId.
bool fits_beside(const Plan& plan, const Topology& topology, std::span<const Bytes> held);

/// plan_gemm on the machine with so many bytes of each memory, by MemoryId, taken. Throws InputError, which tells them.
Plan plan_beside(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices,
                 const Policy& policy, const Judge& judge, std::span<const Bytes> held);

/// plan_gemm, or plan_beside where its plan does not fit beside what memories hold.
Plan plan_product(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices,
                  const Policy& policy, const Judge& judge, std::span<const Bytes> held);

/// The estimate of the plan that the policy makes without a judge. Keeps references to the topology and the devices.
ProductCost estimated_cost(const Topology& topology, std::span<const MemoryId> devices, const Policy& policy);

/// All that the plan of a product depends on, beside machine, devices and policy.
using ProductKey = std::tuple<std::array<std::int64_t, 6>, DType, std::array<Trans, 2>, std::array<bool, 2>,
                              std::array<MemoryId, 3>, std::vector<Bytes>>;
ProductKey key_of(const GemmProblem& product, std::span<const Bytes> held);

/// The same cost, asked once of each product.
ProductCost remembered(ProductCost cost);

}  // namespace tilerail
