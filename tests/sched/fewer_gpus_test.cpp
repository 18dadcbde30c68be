// More GPUs are not slower than a subset; more effort simulates more plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "model/base/parse.hpp"
#include "sched/choose/device_sets.hpp"
#include "sched/emulation/presets.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/simulated.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::testing {
namespace {

using Devices = std::vector<MemoryId>;

class Draws {
 public:
  explicit Draws(unsigned seed) : random_{seed} {}
  size_t below(size_t count) { return random_() % count; }
  template <class T>
  T of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }

 private:
  std::mt19937 random_;
};

/// GPUs of three speeds on two switches of a host; some have links to the preceding GPU.
Topology unequal_machine(Draws& draws) {
  const int gpus = int(2 + draws.below(3));
  auto d = small_machine::unlinked("h", "g", gpus, {"s0", "s1"});
  d.kernels.clear();
  for (const auto& [name, speed] :
       {std::pair{"slow", 1.0}, {"middle", 3.0}, {"fast", 9.0}}) {
    KernelTimes times;
    times.name = name, times.source = "s";
    times.launch = Seconds{4e-6}, times.multiprocessors = 60,
    times.memory_bandwidth = Rate{800e9};
    times.gemm.push_back(small_machine::gemms(
        DType::f64, {{256, 0.2 * speed}, {1024, 0.7 * speed}, {4096, speed}}));
    d.kernels.push_back(times);
  }
  for (const char* name : {"s0", "s1"})
    small_machine::add_links(d, "h", name, draws.of<double>({6, 12, 25}), 4);
  small_machine::add_links(d, "s0", "s1", draws.of<double>({6, 20}), 4);
  for (int i = 0; i < gpus; ++i) {
    const std::string name = "g" + std::to_string(i);
    d.memories[1 + size_t(i)].processor->kernels = draws.below(3);
    small_machine::add_links(d, draws.of<std::string>({"s0", "s1"}), name,
                             draws.of<double>({3, 12, 25}), 4);
    if (i > 0 && draws.below(2) == 0)
      small_machine::add_links(d, "g" + std::to_string(i - 1), name,
                               draws.of<double>({20, 50, 200}), 2);
  }
  return Topology{std::move(d)};
}

GemmProblem drawn_problem(Draws& draws, const Topology& machine) {
  const auto side = [&] { return draws.of<int64_t>({700, 1500, 2048, 4000, 8192}); };
  const auto place = [&] {
    return MemoryId{int(draws.below(2) * draws.below(machine.gpus().size() + 1))};
  };
  GemmProblem p = cube(side());
  if (draws.below(2) == 0) p.n = side(), p.k = side(), p.ldb = p.k;
  p.lda = p.m, p.ldb = p.k, p.ldc = p.m;
  p.place_a = place(), p.place_b = place(), p.place_c = place();
  return p;
}

/// All nonempty proper subsets.
std::vector<Devices> subsets(const Devices& all) {
  std::vector<Devices> sets;
  for (size_t bits = 1; bits + 1 < size_t{1} << all.size(); ++bits) {
    Devices& set = sets.emplace_back();
    for (size_t d = 0; d < all.size(); ++d)
      if (bits >> d & 1) set.push_back(all[d]);
  }
  return sets;
}

int cases() {
  const char* const set = std::getenv("TILERAIL_SUBSET_CASES");
  return set ? int(parse_integer(set, "TILERAIL_SUBSET_CASES", 1, 1'000'000)) : 6;
}

TEST(MoreGpus, AreNotSlowerThanASubset) {
  int compared = 0, slower = 0;
  double most = 0;
  for (int seed = 0; seed < cases(); ++seed) {
    Draws draws{unsigned(seed)};
    const Topology machine = unequal_machine(draws);
    const GemmProblem problem = drawn_problem(draws, machine);
    const auto seconds = [&](const Devices& devices) {
      return simulated(judged(problem, machine, devices, any_preset("tilerail")), machine)
          .value;
    };
    const double all = seconds(machine.gpus());
    for (const Devices& set : subsets(machine.gpus())) {
      const double loss = all / seconds(set) - 1;
      ++compared, slower += loss > 0.005;
      most = std::max(most, loss);
      EXPECT_LE(loss, 0.005) << "seed " << seed << ", " << set.size() << " of "
                             << machine.gpus().size();
    }
  }
  RecordProperty("compared", compared), RecordProperty("slower", slower);
  RecordProperty("most", std::to_string(most));
}

TEST(MoreEffort, SimulatesEveryPlanOfTheNormalSearch) {
  for (int seed = 0; seed < cases(); ++seed) {
    Draws draws{unsigned(seed)};
    const Topology machine = unequal_machine(draws);
    const GemmProblem problem = drawn_problem(draws, machine);
    const auto times = [&](std::string_view effort) {
      std::multiset<double> all;
      for (const PlanCandidate& each :
           judged(problem, machine, machine.gpus(), policy("tilerail", {effort}))
               .origin.candidates)
        all.insert(each.seconds);
      return all;
    };
    EXPECT_TRUE(std::ranges::includes(times("effort=high"), times("effort=normal")))
        << "seed " << seed;
  }
}

struct Shown {
  const char* machine;
  int64_t side;
};

class ChosenGpus : public ::testing::TestWithParam<Shown> {};

TEST_P(ChosenGpus, HaveTheSamePlanIfNoOtherGpusAreGiven) {
  const Topology machine = shipped(GetParam().machine);
  const GemmProblem problem = cube(GetParam().side);
  const Plan all = judged(problem, machine, machine.gpus(), any_preset("tilerail"));
  const Plan given = judged(problem, machine, all.devices, any_preset("tilerail"));
  EXPECT_EQ(given.devices, all.devices);
  EXPECT_DOUBLE_EQ(simulated(given, machine).value, simulated(all, machine).value);
}

INSTANTIATE_TEST_SUITE_P(Shown, ChosenGpus,
                         ::testing::Values(Shown{"cocopelia-testbed-2", 8192},
                                           Shown{"cocopelia-testbed-2", 12288},
                                           Shown{"pcie-tree-8", 2048}),
                         [](const auto& shown) {
                           std::string name =
                               shown.param.machine + std::to_string(shown.param.side);
                           std::erase(name, '-');
                           return name;
                         });

TEST(MoreGpus, OfUnequalSpeedAreNotSlowerThanTheFastGpus) {
  const Topology machine = shipped("cocopelia-testbed-2");
  const Devices two{machine.gpus()[0], machine.gpus()[1]};
  for (const int64_t side : {2048, 4096, 12288}) {
    const auto seconds = [&](const Devices& devices) {
      return simulated(judged(cube(side), machine, devices, any_preset("tilerail")),
                       machine);
    };
    EXPECT_LE(seconds(machine.gpus()).value, (1 + 1e-9) * seconds(two).value) << side;
  }
}

/// Device numbers as in the machine, smallest set last.
std::vector<std::vector<int>> growing(const char* name, int64_t side) {
  const Topology machine = shipped(name);
  const Resources resources{machine};
  const Policy policy = any_preset("tilerail");
  const GemmProblem problem = cube(side);
  std::vector<std::vector<int>> numbers;
  for (const Devices& set : growing_sets(
           Question{problem, problem, machine, resources, machine.gpus(), policy})) {
    numbers.emplace_back();
    for (const MemoryId device : set)
      numbers.back().push_back(machine.processor(device).device);
  }
  return numbers;
}

TEST(GrowingSets, LeaveOutTheSlowGpuFirst) {
  const auto sets = growing("cocopelia-testbed-2", 8192);
  ASSERT_FALSE(sets.empty());
  EXPECT_EQ(sets.front(), (std::vector{0, 1}));
}

TEST(GrowingSets, LeaveOutGpusBehindASharedLinkFirst) {
  for (const std::vector<int>& set : growing("pcie-tree-8", 2048))
    for (size_t i = 0; set.size() <= 4 && i + 1 < set.size();
         ++i)  // GPUs 2 i and 2 i + 1 share a switch
      EXPECT_NE(set[i] / 2, set[i + 1] / 2);
}

}  // namespace
}  // namespace tilerail::testing
