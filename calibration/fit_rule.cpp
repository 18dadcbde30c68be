#include <algorithm>
#include <array>
#include <cmath>
#include <nlopt.hpp>

#include "calibration/fit_parts.hpp"

#include "model/base/indices.hpp"

namespace tilerail::fit {
namespace {

/// Block sizes common in libraries: rows x columns of C per thread block.
struct BlockSize {
  double rows, cols;

  /// Proportional to the flops of a block per loaded element.
  double reuse() const { return rows * cols / (rows + cols); }
};
constexpr std::array<BlockSize, 6> block_sizes{
    {{256, 128}, {128, 128}, {128, 64}, {64, 64}, {64, 32}, {32, 32}}};

/// Initial values of the search that do not follow from the measured times.
struct Start {
  double fill;  // in units of k
  bool reuse;  // whether efficiencies are proportional to reuse, or a tenth less per size
};
constexpr std::array<Start, 4> starts{
    {{64, false}, {64, true}, {512, false}, {512, true}}};

/// Fits the parameters of the rule: minimises the mean of |log(rule / measured)|, with
/// each shape limited to 0.3, so that outliers have little influence.
///
/// The distance has a kink wherever the block size changes, so the search is
/// derivative-free: the simplex method of Nelder and Mead, from several starts because it
/// finds local minima, and restarted at the best end until a restart gains nothing
/// because a simplex may collapse early. The unknowns are logarithms: the launch, the
/// fill, the reduction, and for each block size the rate of all multiprocessors. The
/// largest rate is the peak; the efficiencies are shares of the peak.
class RuleFit {
 public:
  RuleFit(const Runs& runs, const TiledGemm::Device& device)
      : runs_{runs}, device_{device} {
    for (const KernelRun* run : runs) {
      fastest_ = std::max(fastest_, 2.0 * double(run->m) * double(run->n) *
                                        double(run->k) / run->seconds.mean);
      shortest_ = std::min(shortest_, run->seconds.mean);
    }
    for (const auto& [rows, cols] : block_sizes) rule_.blocks.push_back({rows, cols, 1});
  }

  TiledGemm fit() {
    std::vector<double> best;
    double least = INFINITY;
    for (const Start& start : starts) {
      if (least <= close) break;
      std::vector<double> unknowns = first_guess(start);
      const double distance = descend(unknowns, 1e-2);
      if (distance < least) least = distance, best = std::move(unknowns);
    }
    for (double before = INFINITY; close < least && least < (1 - enough) * before;) {
      before = least;
      least = descend(best, 0.1 * enough);
    }
    return rule_of(best);
  }

 private:
  static constexpr double close = 1e-3;  // a distance below the accuracy of measurements
  static constexpr double enough =
      1e-3;  // smaller gains, relative to the distance, do not count

  enum Unknown { launch, fill, reduction, first_rate };
  static constexpr size_t count = first_rate + block_sizes.size();

  std::vector<double> first_guess(const Start& start) const {
    std::vector<double> guess{0.8 * shortest_, start.fill, 0.5 * shortest_};
    for (const auto i : indices(block_sizes)) {
      const double efficiency = start.reuse
                                    ? block_sizes[i].reuse() / block_sizes[0].reuse()
                                    : 1 - 0.1 * double(i);
      guess.push_back(1.02 * efficiency * fastest_);
    }
    return logarithms(std::move(guess));
  }

  /// Bounds: no fixed cost of a kernel takes much longer than the shortest kernel, and no
  /// block is much faster than the fastest kernel.
  std::vector<double> least_values() const {
    return limits({0.3 * shortest_, 1, 0.01 * shortest_}, 0.1 * fastest_);
  }
  std::vector<double> most_values() const {
    return limits({1.3 * shortest_, 1024, 10 * shortest_}, 1.2 * fastest_);
  }
  static std::vector<double> limits(std::vector<double> values, double rate) {
    values.resize(count, rate);
    return logarithms(std::move(values));
  }
  static std::vector<double> logarithms(std::vector<double> values) {
    for (double& value : values) value = std::log(value);
    return values;
  }

  /// Moves the unknowns to the local minimum, until a step gains less than `precision` of
  /// the distance, which it returns.
  double descend(std::vector<double>& unknowns, double precision) {
    nlopt::opt search{nlopt::LN_NELDERMEAD, unsigned(count)};
    search.set_min_objective(distance, this);
    search.set_lower_bounds(least_values());
    search.set_upper_bounds(most_values());
    search.set_initial_step(0.1);  // a tenth of each unknown
    search.set_ftol_rel(precision);
    search.set_stopval(close);
    search.set_maxeval(3000);
    double least = 0;
    search.optimize(unknowns, least);
    return least;
  }

  static double distance(const std::vector<double>& unknowns, std::vector<double>&,
                         void* fit) {
    return static_cast<RuleFit*>(fit)->distance(unknowns);
  }
  double distance(const std::vector<double>& unknowns) {
    const TiledGemm& rule = rule_of(unknowns);
    double sum = 0;
    for (const KernelRun* run : runs_) {
      const auto cost = rule.uncorrected(size_of(*run), device_);
      sum += std::min(0.3, std::abs(std::log(cost.time.value / run->seconds.mean)));
    }
    return sum / double(runs_.size());
  }

  const TiledGemm& rule_of(const std::vector<double>& unknowns) {
    rule_.launch = Seconds{std::exp(unknowns[launch])},
    rule_.reduction = Seconds{std::exp(unknowns[reduction])};
    rule_.fill = std::exp(unknowns[fill]);
    const double peak = *std::max_element(unknowns.begin() + first_rate, unknowns.end());
    rule_.peak = FlopRate{std::exp(peak)};
    for (const auto i : indices(rule_.blocks))
      rule_.blocks[i].efficiency = std::exp(unknowns[first_rate + i] - peak);
    return rule_;
  }

  const Runs& runs_;
  TiledGemm::Device device_;
  double fastest_ = 0;          // flop/s
  double shortest_ = INFINITY;  // s
  TiledGemm rule_;
};

}  // namespace

TiledGemm fit_rule(const Runs& runs, const TiledGemm::Device& device) {
  return RuleFit{runs, device}.fit();
}

}  // namespace tilerail::fit
