#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace tilerail {

/// A plan that could be made: numbers of a way, of a set of GPUs and of a tile size, these ascending.
struct Candidate {
  std::size_t way = 0, set = 0, tile = 0;
  auto operator<=>(const Candidate&) const = default;
};

/// What is known of candidates, and which of the others are expected to be fast. docs/model.md#judge
class Outlook {
 public:
  /// About the operations of plans of a way, by tile.
  using OpsOf = std::function<const std::vector<std::int64_t>&(std::size_t way)>;
  /// `ops` are those of plans of square tiles, and `shaped` says them of ways that may have others; those of all plans
  /// that are judged may add up to `budget`.
  Outlook(std::size_t sets, std::vector<std::int64_t> ops, std::int64_t budget, OpsOf shaped = {});

  /// What a candidate takes; nothing where that cannot be known.
  void learn(const Candidate& candidate, std::optional<double> seconds);
  /// So many operations are judged.
  void use(std::int64_t ops) { used_ += ops; }

  std::int64_t ops(const Candidate& candidate) const {
    return (shaped_ ? shaped_(candidate.way) : ops_)[candidate.tile];
  }
  std::int64_t left() const { return budget_ - used_; }
  bool affords(const Candidate& candidate) const { return ops(candidate) <= left(); }
  bool knows(const Candidate& candidate) const { return seconds_.contains(candidate); }
  /// Infinite where it is not known, or cannot be.
  double seconds(const Candidate& candidate) const;
  /// Whether its plan takes at most that share of the budget.
  bool takes(const Candidate& candidate, double share) const {
    return static_cast<double>(ops(candidate)) <= share * static_cast<double>(budget_);
  }

  /// Whether it is known to take not much more than one that has been judged, or too much.
  bool is_near(const Candidate& candidate, const Candidate& judged) const;
  bool is_hopeless(const Candidate& candidate, const Candidate& judged) const;
  /// Those known with this tile, the fastest first; of equally fast ones the first alone: they
  /// mostly are so everywhere.
  std::vector<Candidate> fastest(std::size_t tile) const;
  /// Of those not known of so many ways, at most `most`, the most promising first; none that is hopeless.
  std::vector<Candidate> most_promising(std::size_t ways, std::size_t most) const;

 private:
  using Cells = std::vector<double>;  // logarithm of seconds, by set and tile

  std::size_t cell(const Candidate& candidate) const { return candidate.set * ops_.size() + candidate.tile; }
  double distance(std::size_t cell, std::size_t other) const;
  Cells best_seen() const;
  Cells expected(const Cells& seen) const;
  double behind(std::size_t way, const Cells& best) const;
  bool is_twin(std::size_t way) const;

  std::size_t sets_;
  std::vector<std::int64_t> ops_;
  std::int64_t budget_, used_ = 0;
  OpsOf shaped_;
  std::map<Candidate, std::optional<double>> seconds_;
};

}  // namespace tilerail
