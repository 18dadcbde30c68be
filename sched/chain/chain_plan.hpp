#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "model/machine/topology.hpp"
#include "sched/chain/chain_order.hpp"
#include "sched/chain/chain_problem.hpp"

namespace tilerail {

/// What a product is predicted to take while so many bytes of each memory, by MemoryId, hold other matrices. Throws
/// InputError where it cannot be planned.
using ProductCost = std::function<Seconds(const GemmProblem& product, std::span<const Bytes> held)>;

/// One product of a chain with where its result goes.
struct ChainStep {
  ChainProduct product;
  MemoryId place;
  GemmProblem problem;
  std::vector<Bytes> held;  // by other factors, by the result and by intermediates that are needed later
  Seconds time{0};          // predicted
};

struct ChainPlan {
  std::vector<ChainStep> steps;  // as they run
  Seconds total{0};
  std::size_t asked = 0;  // predictions that it took, each once

  ChainOrder order() const;
};

/// What is left open: the places that intermediates may have, and, where one is given, not the order.
struct ChainChoices {
  std::vector<MemoryId> places;
  std::optional<ChainOrder> order = {};
  SecondsPerByte locking{0};  // of intermediates on a host, for who locks and unlocks them; counts as part of a product
};

/// The most predictions that GPUs beyond the first are worth. docs/model.md#chains-of-products
inline constexpr std::size_t most_chain_products = 500;

/// The most predictions that a chain of so many factors takes where intermediates have so many places.
std::size_t chain_products(std::size_t factors, std::size_t places);

/// The places to try: a GPU of the devices, the first host, and more GPUs as long as these are no more than
/// `most_chain_products`; those where matrices of the chain lie go first.
std::vector<MemoryId> chain_places(const ChainProblem& chain, const Topology& topology,
                                   std::span<const MemoryId> devices);

/// The order and the places of intermediates with the least predicted time of all products, one after another. Where
/// memory is short, intermediates leave GPUs until all fit. `chain` as `checked` returns it. Throws InputError where
/// there is no way. docs/model.md#chains-of-products
ChainPlan plan_chain(const ChainProblem& chain, const Topology& topology, const ProductCost& cost,
                     const ChainChoices& choices);

}  // namespace tilerail
