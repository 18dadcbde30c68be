#include "sched/route/broadcast.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/base/indices.hpp"

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

class ChainSearch {
 public:
  ChainSearch(Clock& clock, std::span<const Holder> holders, std::span<const MemoryId> destinations, Bytes bytes,
              int chunks)
      : clock_{clock}, holders_{holders}, destinations_{destinations}, bytes_{bytes}, chunks_{chunks} {}

  /// Depth-first over all orders; the clock carries the load of the hops taken so far.
  std::optional<Chain> of_all() {
    left_.assign(destinations_.begin(), destinations_.end());
    for (const Holder& holder : holders_) {
      chain_.source = holder.memory;
      go_on(holder, {});
    }
    return best_;
  }

  std::optional<Chain> of_beam() const {
    std::vector<Partial> beam;
    for (const Holder& holder : holders_)
      beam.push_back({{holder.memory, {}, {}}, holder, {}, std::vector<char>(destinations_.size())});
    for (size_t depth = 0; depth < destinations_.size(); ++depth) {
      std::vector<Partial> longer;
      for (const Extension& extension : best_extensions(beam)) longer.push_back(extended(beam, extension));
      beam = std::move(longer);
    }
    return beam.empty() ? std::nullopt : std::optional{beam.front().chain};
  }

 private:
  /// A partial chain of the beam.
  struct Partial {
    Chain chain;
    Holder at;
    Score score;
    std::vector<char> visited;  // by destination
  };

  /// A partial chain made longer by a hop; which, is not copied before it is among the best.
  struct Extension {
    size_t partial, destination;
    Clock::Arrival arrival;
    Score score;
  };

  void go_on(const Holder& at, const Score& score) {
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
      go_on({here, arrival}, longer);
      next = here;
      chain_.hops.pop_back(), chain_.arrivals.pop_back();
      clock_.take_back(undo);
    }
  }

  /// Of all partial chains with one hop more, the best first.
  std::vector<Extension> best_extensions(const std::vector<Partial>& beam) const {
    std::vector<Extension> extensions;
    for (const auto p : indices(beam))
      for (const auto d : indices(destinations_)) {
        if (beam[p].visited[d]) continue;
        const Clock::Hop hop = clock_.hop(beam[p].at.memory, destinations_[d]);
        if (!hop.exists()) continue;
        const auto arrival = clock_.estimate(hop, bytes_, chunks_, beam[p].at.available);
        extensions.push_back({p, d, arrival, beam[p].score.with(arrival)});
      }
    std::ranges::stable_sort(
        extensions, [](const Score& a, const Score& b) { return a.better_than(b); }, &Extension::score);
    if (extensions.size() > beam_width) extensions.erase(extensions.begin() + beam_width, extensions.end());
    return extensions;
  }

  Partial extended(const std::vector<Partial>& beam, const Extension& by) const {
    Partial longer = beam[by.partial];
    const MemoryId to = destinations_[by.destination];
    longer.chain.hops.push_back(to), longer.chain.arrivals.push_back(by.arrival);
    longer.at = {to, by.arrival};
    longer.score = by.score;
    longer.visited[by.destination] = 1;
    return longer;
  }

  static constexpr MemoryId taken{int32_t{-1}};
  Clock& clock_;
  std::span<const Holder> holders_;
  std::span<const MemoryId> destinations_;
  Bytes bytes_;
  int chunks_;
  std::vector<MemoryId> left_;  // destinations, or `taken`
  Chain chain_;
  std::optional<Chain> best_;
  Score best_score_;
};

}  // namespace

std::optional<Chain> find_chain(Clock& clock, std::span<const Holder> holders, std::span<const MemoryId> destinations,
                                Bytes bytes, int chunks) {
  ChainSearch search{clock, holders, destinations, bytes, chunks};
  return destinations.size() <= exhaustive_hops ? search.of_all() : search.of_beam();
}

}  // namespace tilerail
