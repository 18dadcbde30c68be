// How far the default plan is behind the best of all presets and tiles, simulated, and above the bound.
//
//   bench_regret MACHINE... [--random N] [--most-ops N] [--csv]
//
// Machines by name, or made at random: islands, hosts, PCIe generations and rates between those of shipped ones. The
// regret of a problem is t(default) / min over presets and tiles of t - 1, at least 0; plans of more than so many
// operations (20,000) are not compared with.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "backends/fluid/simulation.hpp"
#include "bench/plans.hpp"
#include "cost/bound.hpp"
#include "model/base/error.hpp"
#include "model/machine/topology_toml.hpp"
#include "sched/choose/tile_choice.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "study/design/machine_design.hpp"
#include "study/planning/judge.hpp"

namespace tilerail::bench {
namespace {

constexpr std::array<std::array<std::int64_t, 3>, 12> sizes{{{1024, 1024, 1024},
                                                             {2048, 2048, 2048},
                                                             {4096, 4096, 4096},
                                                             {6000, 6000, 6000},
                                                             {8192, 8192, 8192},
                                                             {12288, 12288, 12288},
                                                             {16384, 16384, 16384},
                                                             {10000, 7000, 5000},
                                                             {30000, 2000, 2000},
                                                             {2000, 2000, 30000},
                                                             {3000, 20000, 3000},
                                                             {11111, 4096, 8192}}};
// Where A, B and C are: h the host, L the last GPU, else a number of a GPU.
constexpr std::array places{"h:h:h", "0:0:0", "0:1:h", "h:0:h", "0:1:2", "1:0:h", "L:h:0", "h:h:0", "0:h:h", "0:1:1"};
constexpr std::array tiles{512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192};

struct Options {
  std::vector<std::string> machines;
  int random = 0;
  double most_ops = 20'000;
  bool csv = false;
};

Options parsed(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--csv")
      options.csv = true;
    else if (i + 1 < argc && word == "--random")
      options.random = std::stoi(argv[++i]);
    else if (i + 1 < argc && word == "--most-ops")
      options.most_ops = std::stod(argv[++i]);
    else
      options.machines.push_back(word);
  }
  return options;
}

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
  return read_topology(study::design_machine(text), text.name);
}

std::optional<GemmProblem> problem_at(const Topology& machine, std::array<std::int64_t, 3> size, std::string_view at) {
  GemmProblem p;
  p.m = size[0], p.n = size[1], p.k = size[2];
  for (MemoryId* place : {&p.place_a, &p.place_b, &p.place_c}) {
    const char where = at[0];
    const auto gpus = static_cast<int>(machine.gpus().size());
    const auto gpu = machine.find_gpu(where == 'L' ? gpus - 1 : where - '0');
    if (where != 'h' && !gpu) return std::nullopt;
    *place = where == 'h' ? machine.hosts().front() : *gpu;
    at.remove_prefix(std::min<std::size_t>(2, at.size()));
  }
  return checked(p);
}

/// Simulated seconds of the plan of a policy, or infinite where there is none or it is too large.
double seconds(const GemmProblem& p, const Topology& machine, const Policy& policy, const Judge& judge) {
  try {
    return judge.of(plan_gemm(p, machine, machine.gpus(), policy, judge)).makespan.value;
  } catch (const InputError&) {
    return std::numeric_limits<double>::infinity();
  }
}

struct Result {
  double ours, best = std::numeric_limits<double>::infinity(), bound;
  std::string by = {};
};

Result compare(const GemmProblem& p, const Topology& machine, double most_ops) {
  const Judge judge = study::judge_of(machine);
  Result result{seconds(p, machine, preset("tilerail"), judge),
                std::numeric_limits<double>::infinity(),
                lower_bound(p, machine, machine.gpus()).time.value,
                {}};
  for (const std::string& name : preset_names())
    for (const std::int64_t tile : tiles) {
      if (2.0 * static_cast<double>(kernel_count(p.m, p.n, p.k, {1, 1}, tile)) > most_ops) continue;
      Policy policy = preset(name);
      apply_override(policy, fmt::format("tile={}", tile));
      policy.ways = Ways::fixed, policy.judge_ops = 0;
      const double there = seconds(p, machine, policy, judge);
      if (there < result.best) result.best = there, result.by = fmt::format("{} T={}", name, tile);
    }
  return result;
}

struct Totals {
  std::vector<double> regrets, over_bound;
};

void compare_all(const Topology& machine, const Options& options, Totals& totals) {
  Totals here;
  for (const auto& size : sizes)
    for (const char* at : places) {
      const auto problem = problem_at(machine, size, at);
      if (!problem) continue;
      const Result r = compare(*problem, machine, options.most_ops);
      if (!std::isfinite(r.best) || !std::isfinite(r.ours)) continue;
      here.regrets.push_back(std::max(0.0, r.ours / r.best - 1));
      here.over_bound.push_back(r.ours / r.bound);
      if (options.csv || here.regrets.back() > 0.01)
        fmt::print("{},{}x{}x{},{},{:.6g},{:.6g},{},{:.4f},{:.3f}\n", machine.name(), size[0], size[1], size[2], at,
                   r.ours, r.best, r.by, here.regrets.back(), here.over_bound.back());
      std::cout.flush();
    }
  for (const double each : here.regrets) totals.regrets.push_back(each);
  for (const double each : here.over_bound) totals.over_bound.push_back(each);
}

void print(Totals totals) {
  if (totals.regrets.empty()) return;
  double sum = 0;
  for (const double each : totals.regrets) sum += each;
  std::ranges::sort(totals.over_bound);
  const auto above = [&](double limit) {
    return std::ranges::count_if(totals.regrets, [=](double each) { return each > limit; });
  };
  fmt::print(
      "{} problems: mean regret {:.2f} %, largest {:.2f} %, above 1 % {}, above 3 % {}; median over bound {:.3f}\n",
      totals.regrets.size(), 100 * sum / static_cast<double>(totals.regrets.size()),
      100 * *std::ranges::max_element(totals.regrets), above(0.01), above(0.03),
      totals.over_bound[totals.over_bound.size() / 2]);
}

}  // namespace
}  // namespace tilerail::bench

int main(int argc, char** argv) {
  using namespace tilerail::bench;
  const Options options = parsed(argc, argv);
  fmt::print("machine,size,place,ours_s,best_s,best,regret,over_bound\n");
  Totals totals;
  for (const std::string& name : options.machines) compare_all(machine(name), options, totals);
  std::mt19937 random{1};
  for (int i = 0; i < options.random; ++i) compare_all(random_machine(random, i), options, totals);
  print(std::move(totals));
}
