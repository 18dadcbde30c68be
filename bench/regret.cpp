// Regret of the default plan: how much slower it is than the best of random combinations
// of its own options.
//
//   bench_regret [--seed N] [--problems N] [--combinations N] [--only N] [--effort E]
//
// Problems are random in shape, type, placement and size. Half of them run on the
// machines of topologies/, half on machines of 4 to 16 GPUs as `tilerail topo new` makes
// them. A combination is one to three overrides of fields of the policy, drawn from the
// policy's own table with their accepted values, and every second time a tile. Each
// combination is planned like `simulate --set`, with the search of normal effort. The
// fluid machine simulates all times.
//
//     regret = max(0, t(default) / min over combinations of t - 1)
//
// Refused combinations are drawn again. Equal seeds give equal problems and
// combinations.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "backends/fluid/simulation.hpp"
#include "bench/plans.hpp"
#include "cost/bound.hpp"
#include "cost/estimate.hpp"
#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/machine/topology_toml.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "study/design/machine_design.hpp"
#include "study/planning/plan_simulator.hpp"
#include "study/problem_text.hpp"

namespace tilerail::bench {
namespace {

struct Options {
  uint32_t seed = 1;
  uint32_t problems = 40, combinations = 24;
  std::optional<uint32_t> only;   // number of a problem
  std::string effort = "normal";  // of the default plan

  void add_to(CLI::App& app) {
    app.add_option("--seed", seed);
    app.add_option("--problems", problems);
    app.add_option("--combinations", combinations);
    app.add_option("--only", only);
    app.add_option("--effort", effort);
  }
};

/// Random draws that are equal with every standard library.
class Draws {
 public:
  explicit Draws(std::initializer_list<uint32_t> seeds) {
    std::seed_seq sequence(seeds);
    random_.seed(sequence);
  }

  size_t below(size_t count) { return random_() % count; }
  bool one_in(size_t count) { return below(count) == 0; }
  double uniform() { return double(random_() >> 11) * 0x1p-53; }
  double log_uniform(double low, double high) {
    return low * std::pow(high / low, uniform());
  }
  template <class Values>
  auto of(const Values& values) {
    return *(std::begin(values) + ptrdiff_t(below(std::size(values))));
  }

 private:
  std::mt19937_64 random_;
};

// --- machines and problems

std::vector<std::string> shipped_machines() {
  std::vector<std::string> names;
  for (const auto& file : std::filesystem::directory_iterator{
           std::string{TILERAIL_SOURCE_DIR} + "/topologies"})
    if (file.path().extension() == ".toml") names.push_back(file.path().stem());
  std::ranges::sort(names);
  return names;
}

int divisor(Draws& draws, int of, int most) {
  std::vector<int> divisors;
  for (int d = 1; d <= std::min(of, most); ++d)
    if (of % d == 0) divisors.push_back(d);
  return draws.of(divisors);
}

Topology new_machine(Draws& draws, const std::string& name) {
  const int gpus = 4 + int(draws.below(13)), sockets = divisor(draws, gpus, 4);
  study::DesignText text;
  text.name = name, text.gpus = std::to_string(gpus),
  text.sockets = std::to_string(sockets);
  text.kernels = draws.of(std::array{"a100", "h200", "v100"});
  text.pcie = draws.of(std::array{"3", "4", "5", "6"});
  text.uplink_gpus = std::to_string(divisor(draws, gpus / sockets, 4));
  if (!draws.one_in(3)) {
    text.nvlink = fmt::format("{:.0f} GB/s", draws.log_uniform(25, 900));
    const int islands = divisor(draws, gpus, 4);
    text.islands = std::to_string(islands);
    if (islands > 1) text.bridge = fmt::format("{:.0f} GB/s", draws.log_uniform(25, 400));
  }
  return read_topology(study::design_machine(text), name);
}

Topology drawn_machine(Draws& draws, uint32_t number) {
  return number % 2 == 0 ? machine(draws.of(shipped_machines()))
                         : new_machine(draws, fmt::format("new-{}", number));
}

std::string drawn_place(Draws& draws, const Topology& machine) {
  const size_t gpus = machine.gpus().size(), hosts = machine.hosts().size();
  switch (draws.below(5)) {
    case 0:
    case 1:
      return "h";
    case 2:
      return hosts > 1 ? "h*" : "h";
    case 3:
      return hosts > 1 ? fmt::format("h{}", draws.below(std::min<size_t>(hosts, 10)))
                       : std::to_string(0);
    default:
      return std::to_string(draws.below(gpus));
  }
}

/// In the notation of users.
struct Drawn {
  std::string size, dtype, trans, place, beta;

  std::string text() const {
    return fmt::format("{} {} {} beta={} {}", size, dtype, trans, beta, place);
  }
};

Drawn drawn_problem(Draws& draws, const Topology& machine) {
  constexpr double least = 256, most = 32768;
  const auto side = [&] { return std::llround(draws.log_uniform(least, most)); };
  Drawn drawn;
  const auto m = side();
  drawn.size =
      draws.one_in(3) ? fmt::format("{}", m) : fmt::format("{},{},{}", m, side(), side());
  drawn.dtype = draws.of(std::array{"f64", "f64", "f32", "f16", "bf16", "tf32"});
  drawn.trans =
      fmt::format("{}{}", draws.one_in(3) ? "T" : "N", draws.one_in(3) ? "T" : "N");
  drawn.beta = draws.one_in(3) ? "0" : "1";
  const std::string all = drawn_place(draws, machine);
  const auto place = [&] { return drawn_place(draws, machine); };
  drawn.place = draws.one_in(2) ? fmt::format("{0}:{0}:{0}", all)
                                : fmt::format("{}:{}:{}", place(), place(), place());
  return drawn;
}

GemmProblem problem_of(const Drawn& drawn, const Topology& machine) {
  study::ProblemText text;
  text.gemm = drawn.size, text.dtype = drawn.dtype, text.place = drawn.place,
  text.beta = drawn.beta;
  text.trans_a = drawn.trans.substr(0, 1), text.trans_b = drawn.trans.substr(1);
  return text.resolve(machine);
}

// --- combinations

/// A value of a range, usually inside it, with each order of magnitude equally likely.
std::string value_in(Draws& draws, double low, double high) {
  if (draws.one_in(4)) return fmt::format("{}", low);
  const double value = draws.log_uniform(low > 0 ? low : 1, high);
  return high <= 1 ? fmt::format("{:.3f}", value) : fmt::format("{:.0f}", value);
}

/// A value that a field accepts, with some of its parameters.
std::string drawn_value(Draws& draws, const PolicyField& field) {
  const size_t which = draws.below(field.values.size() + (field.range ? 1 : 0));
  if (which == field.values.size())
    return value_in(draws, field.range->first, field.range->second);
  const PolicyValue& value = field.values[which];
  std::vector<std::string> parameters;
  for (const PolicyField& parameter : value.parameters)
    if (draws.one_in(2))
      parameters.push_back(
          fmt::format("{}={}", parameter.key, drawn_value(draws, parameter)));
  return parameters.empty()
             ? value.name
             : fmt::format("{}({})", value.name, fmt::join(parameters, ","));
}

/// All fields except the tile, which is drawn with the problem, the effort of the search,
/// and fields that emulate libraries.
std::vector<PolicyField> fields_to_draw() {
  std::vector<PolicyField> fields = fields_of(preset("tilerail"));
  std::erase_if(fields, [&](const PolicyField& field) {
    return field.emulates || field.key == "tile" || field.key == "effort";
  });
  return fields;
}

/// Draws tiles until the number of kernels is small enough for a search.
int64_t drawn_tile(Draws& draws, const GemmProblem& p) {
  const auto longest = double(std::max({p.m, p.n, p.k, int64_t{256}}));
  for (;;) {
    const auto tile = int64_t(draws.log_uniform(128, longest));
    if (kernel_count(p.m, p.n, p.k, {}, tile) <= most_candidate_kernels) return tile;
  }
}

Policy drawn_policy(Draws& draws, const GemmProblem& p) {
  static const std::vector<PolicyField> fields = fields_to_draw();
  constexpr size_t most = 3;
  Policy policy = preset("tilerail");
  for (size_t count = 1 + draws.below(most); count > 0; --count) {
    const PolicyField& field = fields[draws.below(fields.size())];
    apply_override(policy, field.key + "=" + drawn_value(draws, field));
  }
  if (draws.one_in(2))
    apply_override(policy, fmt::format("tile={}", drawn_tile(draws, p)));
  return policy;
}

// --- results

struct Result {
  double ours = 0, best = std::numeric_limits<double>::infinity(), bound = 0;
  std::string by = {};
  std::vector<double> estimated = {}, simulated = {};  // of the combinations

  double regret() const { return std::max(0.0, ours / best - 1); }
};

struct Measure {
  const GemmProblem& problem;
  const Topology& machine;
  const PlanSimulator simulator = study::plan_simulator(machine);
  const Resources resources{machine};

  Plan plan(const Policy& policy) const {
    return plan_gemm(problem, machine, machine.gpus(), policy, simulator);
  }

  /// Returns false if the combination is refused.
  bool add(const Policy& policy, Result& result) const {
    try {
      const Plan made = plan(policy);
      const double there = simulator.of(made).makespan.value;
      result.estimated.push_back(estimate_plan(made, machine, resources).makespan.value);
      result.simulated.push_back(there);
      if (there < result.best) result.best = there, result.by = name_of(policy);
      return true;
    } catch (const InputError&) {
      return false;
    }
  }
};

Result measured(const GemmProblem& p, const Topology& machine, uint32_t number,
                const Options& options) {
  constexpr uint32_t most_refused = 100;
  const Measure measure{p, machine};
  Result result;
  Policy ours = preset("tilerail");
  apply_override(ours, "effort=" + options.effort);
  result.ours = measure.simulator.of(measure.plan(ours)).makespan.value;
  result.bound = lower_bound(p, machine, machine.gpus()).time.value;
  for (uint32_t i = 0; i < options.combinations; ++i)
    for (uint32_t again = 0; again < most_refused; ++again) {
      Draws draws{options.seed, number, 2, i, again};
      if (measure.add(drawn_policy(draws, p), result)) break;
    }
  return result;
}

/// Kendall's tau-b between two lists of numbers for the same alternatives: 1 for equal
/// order, -1 for opposite order, ties discounted in either list. 0 if all numbers of one
/// list are tied. Source: Kendall, Rank Correlation Methods, chapter 3.
double kendall_tau(const std::vector<double>& a, const std::vector<double>& b) {
  double agree = 0, pairs_a = 0,
         pairs_b = 0;  // concordant minus discordant pairs; pairs without ties
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = i + 1; j < a.size(); ++j) {
      const int in_a = (a[i] > a[j]) - (a[i] < a[j]),
                in_b = (b[i] > b[j]) - (b[i] < b[j]);
      agree += in_a * in_b;
      pairs_a += in_a != 0, pairs_b += in_b != 0;
    }
  return pairs_a == 0 || pairs_b == 0 ? 0 : agree / std::sqrt(pairs_a * pairs_b);
}

struct Totals {
  std::vector<double> regrets, over_bound, taus;

  void add(const Result& result) {
    regrets.push_back(result.regret());
    over_bound.push_back(result.ours / result.bound);
    if (result.simulated.size() > 1)
      taus.push_back(kendall_tau(result.estimated, result.simulated));
  }
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / double(values.size());
}

/// The smallest value that this share of all values does not exceed.
double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  const double rank = std::ceil(share * double(values.size()));
  return values[size_t(std::max(rank, 1.0)) - 1];
}

void print(const Totals& totals) {
  if (totals.regrets.empty()) return;
  fmt::print(
      "{} problems: regret mean {:.2f} %, 95th percentile {:.2f} %, largest {:.2f} %; "
      "above 1 %: {}\n",
      totals.regrets.size(), 100 * mean(totals.regrets),
      100 * quantile(totals.regrets, 0.95),
      100 * *std::ranges::max_element(totals.regrets),
      std::ranges::count_if(totals.regrets, [](double regret) { return regret > 0.01; }));
  fmt::print("default / bound: median {:.3f}; Kendall tau of the estimate, mean {:.3f}\n",
             quantile(totals.over_bound, 0.5), mean(totals.taus));
}

/// Draws until the machine is valid and holds the problem. Throws InputError if that
/// takes more than 100 draws.
void run_problem(uint32_t number, const Options& options, Totals& totals) {
  constexpr uint32_t most_drawn = 100;
  for (uint32_t again = 0;; ++again) {
    Draws draws{options.seed, number, 1, again};
    try {
      const Topology machine = drawn_machine(draws, number);
      const Drawn drawn = drawn_problem(draws, machine);
      const GemmProblem problem = problem_of(drawn, machine);
      const Result r = measured(problem, machine, number, options);
      fmt::print("{:2} {:46} {:22} {:9.3f} {:9.3f} {:7.2f} {:6.2f}  {}\n", number,
                 drawn.text(),
                 fmt::format("{} ({})", machine.name(), machine.gpus().size()),
                 1e3 * r.ours, 1e3 * r.best, 100 * r.regret(), r.ours / r.bound, r.by);
      std::cout.flush();
      return totals.add(r);
    } catch (const InputError&) {
      if (again + 1 == most_drawn) throw;
    }
  }
}

}  // namespace
}  // namespace tilerail::bench

int main(int argc, char** argv) {
  using namespace tilerail::bench;
  Options options;
  CLI::App app;
  options.add_to(app);
  CLI11_PARSE(app, argc, argv);
  fmt::print("{:2} {:46} {:22} {:>9} {:>9} {:>7} {:>6}  {}\n", "", "problem",
             "machine (GPUs)", "default", "best, ms", "regret%", "/bound",
             "best combination");
  Totals totals;
  try {
    for (uint32_t number = 0; number < options.problems; ++number)
      if (!options.only || *options.only == number) run_problem(number, options, totals);
  } catch (const tilerail::InputError& error) {
    fmt::print(stderr, "bench_regret: {}\n", error.what());
    return 2;
  }
  print(totals);
}
