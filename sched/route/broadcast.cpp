#include "sched/route/broadcast.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace tilerail {
namespace {

/// How good a chain is: last arrival; then, where a resource shared by all decides that, last arrival by pairs alone;
/// then pressure on the links; then sum of arrivals. Differences below a billionth are ties: sums in another order.
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
    return {std::max(last, arrival.last), std::max(pair, arrival.pair), pressure + arrival.pressure,
            sum + arrival.last};
  }
};

/// Depth-first over all orders; the clock carries the load of the hops taken so far.
class Exhaustive {
 public:
  Exhaustive(Clock& clock, std::span<const MemoryId> destinations, Bytes bytes, int chunks)
      : clock_{clock}, left_{destinations.begin(), destinations.end()}, bytes_{bytes}, chunks_{chunks} {}

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
      if (best_ && !longer.better_than(best_score_)) continue;  // arrivals only grow
      const auto undo = clock_.try_out(hop, bytes_, arrival);
      chain_.hops.push_back(next), chain_.arrivals.push_back(arrival);
      const MemoryId here = std::exchange(next, taken);
      extend({here, arrival}, longer);
      next = here;
      chain_.hops.pop_back(), chain_.arrivals.pop_back();
      clock_.take_back(undo);
    }
  }

  static constexpr MemoryId taken{std::int32_t{-1}};
  Clock& clock_;
  std::vector<MemoryId> left_;
  Bytes bytes_;
  int chunks_;
  Chain chain_;
  std::optional<Chain> best_;
  Score best_score_;
};

/// A partial chain of the beam.
struct Partial {
  Chain chain;
  Holder at;
  Score score;
};

std::optional<Chain> search_all(Clock& clock, std::span<const Holder> holders, std::span<const MemoryId> destinations,
                                Bytes bytes, int chunks) {
  Exhaustive search{clock, destinations, bytes, chunks};
  for (const Holder& holder : holders) search.from(holder);
  return search.best();
}

std::optional<Chain> search_beam(Clock& clock, std::span<const Holder> holders, std::span<const MemoryId> destinations,
                                 Bytes bytes, int chunks) {
  std::vector<Partial> beam, next;
  for (const Holder& holder : holders) beam.push_back({{holder.memory, {}, {}}, holder, {}});
  for (std::size_t depth = 0; depth < destinations.size(); ++depth) {
    next.clear();
    for (const Partial& partial : beam)
      for (const MemoryId to : destinations) {
        const auto& hops = partial.chain.hops;
        if (std::find(hops.begin(), hops.end(), to) != hops.end()) continue;
        const Clock::Hop hop = clock.hop(partial.at.memory, to);
        if (!hop.exists()) continue;
        const auto arrival = clock.estimate(hop, bytes, chunks, partial.at.available);
        Partial longer = partial;
        longer.chain.hops.push_back(to), longer.chain.arrivals.push_back(arrival);
        longer.at = {to, arrival};
        longer.score = partial.score.with(arrival);
        next.push_back(std::move(longer));
      }
    std::stable_sort(next.begin(), next.end(),
                     [](const Partial& a, const Partial& b) { return a.score.better_than(b.score); });
    if (next.size() > beam_width) next.resize(beam_width);
    beam.swap(next);
  }
  if (beam.empty()) return std::nullopt;
  return beam.front().chain;
}

}  // namespace

std::optional<Chain> find_chain(Clock& clock, std::span<const Holder> holders, std::span<const MemoryId> destinations,
                                Bytes bytes, int chunks) {
  const auto search = destinations.size() <= exhaustive_hops ? search_all : search_beam;
  return search(clock, holders, destinations, bytes, chunks);
}

}  // namespace tilerail
