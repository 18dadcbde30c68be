#include "sched/chain/chain_plan.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "model/base/error.hpp"
#include "sched/chain/product_plan.hpp"

namespace tilerail {
namespace {

/// A product of a span with the places of its operands, and what these take.
struct Way {
  ChainProduct product;
  MemoryId left, right;
  Seconds time{0};
};

using SpanAt = std::pair<ChainSpan, MemoryId>;

double stored_bytes(const ChainFactor& matrix, DType dtype) {
  if (matrix.rows == 0 || matrix.cols == 0) return 0;
  const double elements =
      static_cast<double>(matrix.cols - 1) * static_cast<double>(matrix.ld) + static_cast<double>(matrix.rows);
  return elements * static_cast<double>(element_size(dtype));
}

class ChainSearch {
 public:
  ChainSearch(const ChainProblem& chain, const Topology& topology, const ProductCost& cost, const ChainChoices& choices)
      : chain_{chain}, topology_{topology}, cost_{cost}, choices_{choices} {}

  /// Each round takes away one place of one intermediate.
  ChainPlan best() {
    for (;;) {
      solve();
      if (!ways_.contains({whole(), chain_.place})) throw InputError{fault_};
      ChainPlan plan;
      append(plan, {whole(), chain_.place});
      const std::optional<SpanAt> crowding = weigh(plan);
      plan.asked = asked_.size();
      if (!crowding) return plan;
      refused_.insert(*crowding);
    }
  }

 private:
  ChainSpan whole() const { return {0, chain_.factors.size() - 1}; }

  std::vector<MemoryId> places_of(const ChainSpan& span) const {
    if (span.is_factor()) return {chain_.factors[span.first].place};
    if (span == whole()) return {chain_.place};
    std::vector<MemoryId> places;
    for (const MemoryId place : choices_.places)
      if (!refused_.contains({span, place})) places.push_back(place);
    return places;
  }

  std::vector<ChainProduct> products_of(const ChainSpan& span) const {
    std::vector<ChainProduct> products;
    for (std::size_t split = span.first; split < span.last; ++split) {
      const ChainProduct product{span.first, split, span.last};
      if (!choices_.order || std::ranges::find(*choices_.order, product) != choices_.order->end())
        products.push_back(product);
    }
    return products;
  }

  /// Nothing where it cannot be made there.
  std::optional<Seconds> time_of(const ChainSpan& span, MemoryId place) const {
    if (span.is_factor()) return Seconds{0};
    const auto way = ways_.find({span, place});
    return way == ways_.end() ? std::nullopt : std::optional{way->second.time};
  }

  /// How the operands of the products of a span can be had, the quickest first.
  std::vector<Way> operands_of(const ChainSpan& span) const {
    std::vector<Way> operands;
    for (const ChainProduct& product : products_of(span))
      for (const MemoryId left : places_of(product.left()))
        for (const MemoryId right : places_of(product.right())) {
          const auto time_left = time_of(product.left(), left), time_right = time_of(product.right(), right);
          if (time_left && time_right) operands.push_back({product, left, right, *time_left + *time_right});
        }
    std::ranges::stable_sort(operands, {}, &Way::time);
    return operands;
  }

  /// Short spans first, which are the operands of longer ones.
  void solve() {
    ways_.clear();
    const std::size_t count = chain_.factors.size();
    for (std::size_t length = 1; length < count; ++length)
      for (std::size_t first = 0; first + length < count; ++first) {
        const ChainSpan span{first, first + length};
        const std::vector<Way> operands = operands_of(span);
        for (const MemoryId place : places_of(span)) solve(span, place, operands);
      }
  }

  /// Operands that take as long as the best way so far cannot begin a better one: their products are not predicted.
  void solve(const ChainSpan& span, MemoryId place, std::span<const Way> operands) {
    std::optional<Way> best;
    for (const Way& way : operands) {
      if (best && way.time >= best->time) break;
      const GemmProblem problem = problem_of(chain_, way.product, way.left, way.right, place);
      try {
        const Seconds time = way.time + predict(problem, held_beside(way.product, {})) + locking(span, place);
        if (!best || time < best->time) best = Way{way.product, way.left, way.right, time};
      } catch (const InputError& error) {
        if (fault_.empty() || span.last - span.first > faulty_) fault_ = error.what(), faulty_ = span.last - span.first;
      }
    }
    if (best) ways_.insert_or_assign({span, place}, *best);
  }

  Seconds predict(const GemmProblem& problem, std::span<const Bytes> held) {
    asked_.insert(key_of(problem, held));
    return cost_(problem, held);
  }

  Seconds locking(const ChainSpan& span, MemoryId place) const {
    const bool is_locked = span != whole() && !topology_.is_gpu(place);
    return is_locked ? Bytes{static_cast<double>(intermediate_bytes(chain_, span))} * choices_.locking : Seconds{0};
  }

  /// Whether a product reads the matrix of a factor, for which others may stand, too.
  bool is_operand(std::size_t factor, const ChainProduct& product) const {
    const auto reads = [&](const ChainSpan& span) {
      return span.is_factor() && chain_.factors[span.first].same_as.value_or(span.first) == factor;
    };
    return reads(product.left()) || reads(product.right());
  }

  /// Bytes of all that plays no part in a product: matrices of the caller, and these intermediates.
  std::vector<Bytes> held_beside(const ChainProduct& product, std::span<const SpanAt> intermediates) const {
    std::vector<Bytes> held(topology_.memories().size(), Bytes{0});
    for (std::size_t i = 0; i < chain_.factors.size(); ++i) {
      if (chain_.factors[i].same_as || is_operand(i, product)) continue;
      held[chain_.factors[i].place.index()] += Bytes{stored_bytes(chain_.factors[i], chain_.dtype)};
    }
    if (product.whole() != whole())
      held[chain_.place.index()] +=
          Bytes{stored_bytes({chain_.rows(), chain_.cols(), chain_.ld, Trans::no, {}}, chain_.dtype)};
    for (const auto& [span, place] : intermediates)
      held[place.index()] += Bytes{static_cast<double>(intermediate_bytes(chain_, span))};
    return held;
  }

  void append(ChainPlan& plan, const SpanAt& made) const {
    const auto& [span, place] = made;
    if (span.is_factor()) return;
    const Way& way = ways_.at(made);
    append(plan, {way.product.left(), way.left});
    append(plan, {way.product.right(), way.right});
    plan.steps.push_back({way.product, place, problem_of(chain_, way.product, way.left, way.right, place), {}});
  }

  /// Predicts the products once more, beside the intermediates of that time. Where one does not fit, returns the
  /// largest intermediate of its time that a GPU holds. Throws InputError where no GPU holds one.
  std::optional<SpanAt> weigh(ChainPlan& plan) {
    std::vector<SpanAt> alive;
    for (ChainStep& step : plan.steps) {
      std::vector<SpanAt> others = alive;
      std::erase_if(others, [&](const SpanAt& one) {
        return one.first == step.product.left() || one.first == step.product.right();
      });
      step.held = held_beside(step.product, others);
      if (step.product.whole() != whole()) alive.push_back({step.product.whole(), step.place});
      try {
        step.time = predict(step.problem, step.held) + locking(step.product.whole(), step.place);
      } catch (const InputError&) {
        const auto crowding = largest_on_gpu(alive);
        if (!crowding) throw;
        return crowding;
      }
      plan.total += step.time;
      others.push_back({step.product.whole(), step.place});
      alive = std::move(others);
    }
    return std::nullopt;
  }

  std::optional<SpanAt> largest_on_gpu(std::span<const SpanAt> alive) const {
    std::optional<SpanAt> largest;
    for (const SpanAt& one : alive) {
      if (!topology_.is_gpu(one.second)) continue;
      if (!largest || intermediate_bytes(chain_, one.first) > intermediate_bytes(chain_, largest->first)) largest = one;
    }
    return largest;
  }

  const ChainProblem& chain_;
  const Topology& topology_;
  const ProductCost& cost_;
  const ChainChoices& choices_;
  std::set<SpanAt> refused_;    // places that have no room
  std::map<SpanAt, Way> ways_;  // the best one, of each span and place
  std::set<ProductKey> asked_;
  std::string fault_;       // the first of the longest spans that cannot be made: others may do without shorter ones
  std::size_t faulty_ = 0;  // how long that is
};

}  // namespace

ChainOrder ChainPlan::order() const {
  ChainOrder order;
  for (const ChainStep& step : steps) order.push_back(step.product);
  return order;
}

std::size_t chain_products(std::size_t factors, std::size_t places) {
  const auto places_of = [&](const ChainSpan& span) {
    return span.is_factor() || span == ChainSpan{0, factors - 1} ? 1 : places;
  };
  std::size_t all = 0;
  for (std::size_t first = 0; first < factors; ++first)
    for (std::size_t last = first + 1; last < factors; ++last)
      for (std::size_t split = first; split < last; ++split) {
        const ChainProduct product{first, split, last};
        all += places_of(product.left()) * places_of(product.right()) * places_of(product.whole());
      }
  return all;
}

std::vector<MemoryId> chain_places(const ChainProblem& chain, const Topology& topology,
                                   std::span<const MemoryId> devices) {
  std::vector<MemoryId> places;
  const auto add = [&](MemoryId gpu) {
    const bool is_device = std::ranges::find(devices, gpu) != devices.end();
    const bool is_there = std::ranges::find(places, gpu) != places.end();
    const std::size_t with_host = places.size() + 2;
    if (!is_device || is_there) return;
    if (places.empty() || chain_products(chain.factors.size(), with_host) <= most_chain_products) places.push_back(gpu);
  };
  for (const ChainFactor& factor : chain.factors) add(factor.place);
  add(chain.place);
  for (const MemoryId gpu : devices) add(gpu);
  if (!topology.hosts().empty()) places.push_back(topology.hosts().front());
  return places;
}

ChainPlan plan_chain(const ChainProblem& chain, const Topology& topology, const ProductCost& cost,
                     const ChainChoices& choices) {
  return ChainSearch{chain, topology, cost, choices}.best();
}

}  // namespace tilerail
