// How far the default plan is behind the best of all presets and tiles, simulated, and above the bound.
//
//   bench_regret MACHINE... [--random N] [--gemm M,N,K]... [--place A:B:C]... [--most-ops N] [--csv]
//
// Machines by name, or made at random: islands, hosts, PCIe generations and rates between those of shipped ones. The
// regret of a problem is t(default) / min over presets and tiles of t - 1, at least 0, infinite where there is no
// default plan; plans of more than so many operations (20,000) are not compared with. Problems of more than 1 % are
// listed; with
// --csv, all. Of the plans that are compared with, the estimate's order is compared with the simulator's, too.

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "backends/fluid/simulation.hpp"
#include "bench/plans.hpp"
#include "cost/bound.hpp"
#include "cost/estimate.hpp"
#include "model/base/error.hpp"
#include "model/machine/topology_toml.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "study/cases/ranking.hpp"
#include "study/design/machine_design.hpp"
#include "study/planning/judge.hpp"
#include "study/problem_text.hpp"

namespace tilerail::bench {
namespace {

constexpr std::array tiles{512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192};

struct Options {
  std::vector<std::string> machines;
  std::vector<std::string> sizes{"1K",
                                 "2K",
                                 "4K",
                                 "6000",
                                 "8K",
                                 "12K",
                                 "16K",
                                 "10000,7000,5000",
                                 "30000,2000,2000",
                                 "2000,2000,30000",
                                 "3000,20000,3000",
                                 "11111,4096,8192"};
  // L: the last GPU.
  std::vector<std::string> places{"h:h:h", "0:0:0", "0:1:h", "h:0:h", "0:1:2",
                                  "1:0:h", "L:h:0", "h:h:0", "0:h:h", "0:1:1"};
  int random = 0;
  double most_ops = 20'000;
  bool csv = false;

  void add_to(CLI::App& app) {
    app.add_option("machines", machines);
    app.add_option("--random", random);
    app.add_option("--gemm", sizes);
    app.add_option("--place", places);
    app.add_option("--most-ops", most_ops);
    app.add_flag("--csv", csv);
  }
};

Topology random_machine(std::mt19937& random, int number) {
  const auto one_of = [&](std::initializer_list<const char*> values) {
    return std::string{values.begin()[random() % values.size()]};
  };
  study::DesignText text;
  text.name = fmt::format("random-{}", number);
  text.gpus = one_of({"2", "4", "8", "16"});
  text.kernels = one_of({"h200", "a100"});
  text.hosts = one_of({"1", "2"}), text.islands = one_of({"1", "2"}), text.uplink_gpus = one_of({"1", "2"});
  text.pcie = one_of({"3", "4", "5", "6"});
  text.nvlink = one_of({"50", "150", "300", "450", "900"});
  if (text.islands != "1") text.bridge = one_of({"25", "100", "400"});
  return read_topology(study::design_machine(text), *text.name);
}

/// Nothing where the machine has too few GPUs for the place.
std::optional<GemmProblem> problem_at(const Topology& machine, const std::string& size, std::string place) {
  const auto gpus = machine.gpus().size();
  if (const auto last = place.find('L'); last != std::string::npos) place.replace(last, 1, std::to_string(gpus - 1));
  for (const char where : place)
    if (std::isdigit(where) && static_cast<std::size_t>(where - '0') >= gpus) return std::nullopt;
  study::ProblemText text;
  text.gemm = size, text.place = place;
  return text.resolve(machine);
}

/// None where the policy has none for this problem.
std::optional<Plan> planned(const GemmProblem& p, const Topology& machine, const Policy& policy, const Judge& judge) {
  try {
    return plan_gemm(p, machine, machine.gpus(), policy, judge);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

struct Result {
  double ours, best = std::numeric_limits<double>::infinity(), bound;
  std::string by = {};
  std::vector<double> estimated = {}, simulated = {};  // of the plans that are compared with

  /// How far the one that the estimate prefers is behind the best of them.
  double estimate_regret() const {
    const auto first = std::ranges::min_element(estimated) - estimated.begin();
    return simulated[static_cast<std::size_t>(first)] / *std::ranges::min_element(simulated) - 1;
  }
};

Result compare(const GemmProblem& p, const Topology& machine, double most_ops) {
  const Judge judge = study::judge_of(machine);
  const Resources resources{machine};
  const auto ours = planned(p, machine, preset("tilerail"), judge);
  Result result{.ours = ours ? judge.of(*ours).makespan.value : std::numeric_limits<double>::infinity(),
                .bound = lower_bound(p, machine, machine.gpus()).time.value};
  for (const std::string& name : preset_names())
    for (const std::int64_t tile : tiles) {
      if (2.0 * static_cast<double>(kernel_count(p.m, p.n, p.k, {1, 1}, tile)) > most_ops) continue;
      Policy policy = preset(name);
      apply_override(policy, fmt::format("tile={}", tile));
      policy.ways = Ways::fixed, policy.judge_ops = 0;
      const auto plan = planned(p, machine, policy, judge);
      if (!plan) continue;
      const double there = judge.of(*plan).makespan.value;
      result.estimated.push_back(estimate_plan(*plan, machine, resources).makespan.value);
      result.simulated.push_back(there);
      if (there < result.best) result.best = there, result.by = fmt::format("{} T={}", name, tile);
    }
  return result;
}

struct Totals {
  std::vector<double> regrets, over_bound, taus, estimate_regrets;

  void add(const Totals& others) {
    regrets.insert(regrets.end(), others.regrets.begin(), others.regrets.end());
    over_bound.insert(over_bound.end(), others.over_bound.begin(), others.over_bound.end());
    taus.insert(taus.end(), others.taus.begin(), others.taus.end());
    estimate_regrets.insert(estimate_regrets.end(), others.estimate_regrets.begin(), others.estimate_regrets.end());
  }
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

void print(const std::string& of, Totals totals) {
  if (totals.regrets.empty()) return;
  std::ranges::sort(totals.over_bound);
  const auto above = [&](double limit) {
    return std::ranges::count_if(totals.regrets, [=](double each) { return each > limit; });
  };
  fmt::print(
      "{}: {} problems: mean regret {:.3f} %, largest {:.2f} %, above 1 % {}, above 3 % {}; median over bound {:.3f}; "
      "estimate: Kendall tau {:.3f}, mean regret {:.1f} %\n",
      of, totals.regrets.size(), 100 * mean(totals.regrets), 100 * *std::ranges::max_element(totals.regrets),
      above(0.01), above(0.03), totals.over_bound[totals.over_bound.size() / 2], mean(totals.taus),
      100 * mean(totals.estimate_regrets));
  std::cout.flush();
}

void compare_all(const Topology& machine, const Options& options, Totals& totals) {
  Totals here;
  for (const std::string& size : options.sizes)
    for (const std::string& at : options.places) {
      const auto problem = problem_at(machine, size, at);
      if (!problem) continue;
      const Result r = compare(*problem, machine, options.most_ops);
      if (!std::isfinite(r.best)) continue;
      here.regrets.push_back(std::max(0.0, r.ours / r.best - 1));
      here.over_bound.push_back(r.ours / r.bound);
      if (r.estimated.size() > 1) here.taus.push_back(study::kendall_tau(r.estimated, r.simulated));
      here.estimate_regrets.push_back(r.estimate_regret());
      if (options.csv || here.regrets.back() > 0.01)
        fmt::print("{},\"{}\",{},{:.6g},{:.6g},{},{:.4f},{:.3f}\n", machine.name(), size, at, r.ours, r.best, r.by,
                   here.regrets.back(), here.over_bound.back());
      std::cout.flush();
    }
  print(machine.name(), here);
  totals.add(here);
}

}  // namespace
}  // namespace tilerail::bench

int main(int argc, char** argv) {
  using namespace tilerail::bench;
  Options options;
  CLI::App app;
  options.add_to(app);
  CLI11_PARSE(app, argc, argv);
  fmt::print("machine,size,place,ours_s,best_s,best,regret,over_bound\n");
  Totals totals;
  for (const std::string& name : options.machines) compare_all(machine(name), options, totals);
  std::mt19937 random{1};
  for (int i = 0; i < options.random; ++i) compare_all(random_machine(random, i), options, totals);
  print("all", std::move(totals));
}
