// Copies between GPUs go over a host if that is faster.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/transport/router.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/simulated.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail::testing {
namespace {

/// A host with a link of 25 GB/s to each GPU; pairs of GPUs have links of `peers` GB/s,
/// or none at 0.
template <class PeerRate>
Topology star(int gpus, const PeerRate& peers) {
  auto d = small_machine::memories_and_switches(gpus, 0);
  d.kernels[0].launch = Seconds{4e-6}, d.kernels[0].multiprocessors = 100;
  for (const DType dtype : {DType::f64, DType::f32})
    d.kernels[0].gemm.push_back(small_machine::gemms(dtype, {{256, 3}, {2048, 18}}));
  const auto name = [](int gpu) { return "g" + std::to_string(gpu); };
  for (int i = 0; i < gpus; ++i) small_machine::add_links(d, "h", name(i), 25, 5);
  for (int i = 0; i < gpus; ++i)
    for (int j = 0; j < i; ++j)
      if (const double rate = peers(i, j); rate > 0)
        small_machine::add_links(d, name(i), name(j), rate, 5);
  return Topology{std::move(d)};
}

Topology slow_peers(int gpus, double rate) {
  return star(gpus, [rate](int, int) { return rate; });
}

GemmProblem placed(int64_t side, const Topology& machine,
                   const std::array<int, 3>& gpus) {
  GemmProblem p = cube(side);
  const auto place = [&](int gpu) {
    return gpu < 0 ? machine.hosts()[0] : machine.gpus()[size_t(gpu)];
  };
  p.dtype = DType::f32;
  p.lda = p.ldb = p.ldc = side;
  p.place_a = place(gpus[0]), p.place_b = place(gpus[1]), p.place_c = place(gpus[2]);
  return p;
}

double seconds(const GemmProblem& p, const Topology& machine,
               std::initializer_list<std::string_view> overrides = {}) {
  return simulated(judged(p, machine, machine.gpus(), policy("tilerail", overrides)),
                   machine)
      .value;
}

constexpr int at_host = -1;

TEST(BetterCopies, AreStagedIfPeersAreSlow) {
  const Topology machine = slow_peers(6, 3.5);
  const GemmProblem p = placed(8192, machine, {0, 1, 2});
  const double chosen = seconds(p, machine),
               direct = seconds(p, machine, {"peer-copies=direct"});
  EXPECT_LT(chosen, direct);
  EXPECT_DOUBLE_EQ(chosen, seconds(p, machine, {"peer-copies=staged"}));
}

TEST(BetterCopies, AreNeverSlowerThanExistingChoices) {
  const auto some = [](int i, int j) { return (i + j) % 2 == 0 ? 2.0 : 50.0; };
  const std::vector<Topology> machines{slow_peers(2, 1), slow_peers(3, 12),
                                       slow_peers(4, 24), star(4, some)};
  for (const Topology& machine : machines)
    for (const auto& places :
         {std::array{0, 1, 0}, {0, 0, 0}, {0, 1, at_host}, {at_host, 0, 1}}) {
      const GemmProblem p = placed(3000, machine, places);
      const double chosen = seconds(p, machine);
      for (const std::string_view copies : {"peer-copies=direct", "peer-copies=staged"})
        EXPECT_LE(chosen, (1 + 1e-9) * seconds(p, machine, {copies}))
            << machine.gpus().size() << copies;
    }
}

TEST(BetterCopies, WithoutASimulatorAreChosenByTheEstimate) {
  const Topology machine = slow_peers(4, 2);
  const GemmProblem p = placed(8192, machine, {0, 1, 2});
  const auto estimated = [&](std::initializer_list<std::string_view> overrides) {
    return simulated(plan_gemm(p, machine, machine.gpus(), policy("tilerail", overrides)),
                     machine)
        .value;
  };
  EXPECT_LT(estimated({}), 0.7 * estimated({"peer-copies=direct"}));
}

TEST(BetterCopies, JoinGpusWithoutPeerAccess) {
  const Topology machine = star(3, [](int, int) { return 0.0; });
  const GemmProblem p = placed(8192, machine, {0, 0, 0});
  const Plan plan = judged(p, machine, machine.gpus(), any_preset("tilerail"));
  EXPECT_GT(plan.devices.size(), 1U);
  EXPECT_THROW(judged(p, machine, machine.gpus(),
                      policy("tilerail", {"peer-copies=direct", "devices=all"})),
               InputError);
}

TEST(FasterOverHost, RequiresBothLegsOverTheHostToBeFaster) {
  const auto faster = [](double rate) {
    const Topology machine = slow_peers(2, rate);
    return faster_over_host(machine, machine.gpus()[0], machine.gpus()[1]);
  };
  EXPECT_TRUE(faster(0));  // the only route
  EXPECT_TRUE(faster(24));
  EXPECT_FALSE(faster(25));
  EXPECT_FALSE(faster(100));
}

}  // namespace
}  // namespace tilerail::testing
