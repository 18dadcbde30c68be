#include "sched/route/broadcast.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>

#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// Quality of a chain: the last arrival; then, if that is limited by a resource shared by
/// all, the last arrival by pairs alone; then the pressure on links; then the sum of
/// arrivals. Relative differences below 1e-9, from the order of summation, are ties.
struct Score {
  Seconds last{0}, pair{0};
  double pressure = 0;  // s^2
  Seconds sum{0};

  bool better_than(const Score& other) const {
    if (differ(last.value, other.last.value)) return last < other.last;
    if (differ(pair.value, other.pair.value)) return pair < other.pair;
    if (differ(pressure, other.pressure)) return pressure < other.pressure;
    return differ(sum.value, other.sum.value) && sum < other.sum;
  }
  static bool differ(double mine, double theirs) {
    const double tie = 1e-9 * theirs;
    return mine < theirs - tie || mine > theirs + tie;
  }
  Score with(Clock::Arrival arrival) const {
    return {std::max(last, arrival.last), std::max(pair, arrival.pair),
            pressure + arrival.pressure, sum + arrival.last};
  }
};

/// Depth-first search over all orders; the clock contains the load of the hops so far.
class ExhaustiveSearch {
 public:
  ExhaustiveSearch(Clock& clock, std::span<const MemoryId> destinations, Bytes bytes,
                   int chunks)
      : clock_{clock},
        left_{destinations.begin(), destinations.end()},
        bytes_{bytes},
        chunks_{chunks} {}

  void from(const Holder& holder) {
    chain_.source = holder.memory;
    extend(holder, {});
  }
  std::optional<Chain> best() const { return best_; }

 private:
  void extend(const Holder& at, const Score& score) {
    if (chain_.hops.size() == left_.size()) {
      best_ = chain_, best_score_ = score;
      return;
    }
    for (MemoryId& next : left_) {
      if (next == taken) continue;
      const Clock::Hop hop = clock_.hop(at.memory, next);
      if (!hop.exists()) continue;
      const auto arrival = clock_.estimate(hop, bytes_, chunks_, at.available);
      const Score longer = score.with(arrival);
      if (best_ && !longer.better_than(best_score_)) continue;  // arrivals never decrease
      const auto undo = clock_.try_out(hop, bytes_, arrival);
      chain_.hops.push_back(next), chain_.arrivals.push_back(arrival);
      const MemoryId here = std::exchange(next, taken);
      extend({here, arrival}, longer);
      next = here;
      chain_.hops.pop_back(), chain_.arrivals.pop_back();
      clock_.take_back(undo);
    }
  }

  static constexpr MemoryId taken{int32_t{-1}};
  Clock& clock_;
  std::vector<MemoryId> left_;
  Bytes bytes_;
  int chunks_;
  Chain chain_;
  std::optional<Chain> best_;
  Score best_score_;
};

/// A partial chain of the beam.
struct PartialChain {
  Chain chain;
  Holder at;
  Score score;
  std::vector<char> visited;  // by destination
};

/// A hop that extends a partial chain, which is copied only if it is among the best.
struct Extension {
  size_t partial, destination;
  Clock::Arrival arrival;
  Score score;
};

PartialChain extended(const PartialChain& partial, MemoryId to, const Extension& by) {
  PartialChain longer = partial;
  longer.chain.hops.push_back(to), longer.chain.arrivals.push_back(by.arrival);
  longer.at = {to, by.arrival};
  longer.score = by.score;
  longer.visited[by.destination] = 1;
  return longer;
}

std::optional<Chain> search_all(Clock& clock, std::span<const Holder> holders,
                                std::span<const MemoryId> destinations, Bytes bytes,
                                int chunks) {
  ExhaustiveSearch search{clock, destinations, bytes, chunks};
  for (const Holder& holder : holders) search.from(holder);
  return search.best();
}

/// All partial chains with one more hop.
void extend(const std::vector<PartialChain>& beam, Clock& clock,
            std::span<const MemoryId> destinations, Bytes bytes, int chunks,
            std::vector<Extension>& extensions) {
  extensions.clear();
  for (const auto p : indices(beam))
    for (const auto d : indices(destinations)) {
      if (beam[p].visited[d]) continue;
      const Clock::Hop hop = clock.hop(beam[p].at.memory, destinations[d]);
      if (!hop.exists()) continue;
      const auto arrival = clock.estimate(hop, bytes, chunks, beam[p].at.available);
      extensions.push_back({p, d, arrival, beam[p].score.with(arrival)});
    }
}

std::optional<Chain> search_beam(Clock& clock, std::span<const Holder> holders,
                                 std::span<const MemoryId> destinations, Bytes bytes,
                                 int chunks) {
  std::vector<PartialChain> beam, next;
  std::vector<Extension> extensions;
  std::vector<uint32_t> order;  // of extensions, best first
  for (const Holder& holder : holders)
    beam.push_back(
        {{holder.memory, {}, {}}, holder, {}, std::vector<char>(destinations.size())});
  for (size_t depth = 0; depth < destinations.size(); ++depth) {
    extend(beam, clock, destinations, bytes, chunks, extensions);
    order.resize(extensions.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](uint32_t a, uint32_t b) {
      return extensions[a].score.better_than(extensions[b].score);
    });
    if (order.size() > beam_width) order.resize(beam_width);
    next.clear();
    for (const uint32_t e : order) {
      const Extension& extension = extensions[e];
      next.push_back(extended(beam[extension.partial],
                              destinations[extension.destination], extension));
    }
    beam.swap(next);
  }
  if (beam.empty()) return std::nullopt;
  return std::move(beam.front().chain);
}

}  // namespace

std::optional<Chain> find_chain(Clock& clock, std::span<const Holder> holders,
                                std::span<const MemoryId> destinations, Bytes bytes,
                                int chunks) {
  const auto search = destinations.size() <= exhaustive_hops ? search_all : search_beam;
  return search(clock, holders, destinations, bytes, chunks);
}

}  // namespace tilerail
