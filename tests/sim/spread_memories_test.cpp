// Simultaneous copies from both hosts of tests/support/two_hosts.hpp take the times that
// follow from their rates, in both machines.
#include "backends/fluid/simulation.hpp"
#include "tests/support/plan_helper.hpp"
#include "tests/support/two_hosts.hpp"

namespace tilerail::testing {
namespace {

/// The end of each copy, in seconds, if all start simultaneously: a pair of memories, and
/// megabytes.
std::vector<double> ends(
    const Topology& t,
    const std::vector<std::tuple<std::string, std::string, double>>& copies, bool fluid) {
  HandPlan p{t};
  std::vector<OpId> ids;
  for (const auto& [src, dst, megabytes] : copies)
    ids.push_back(p.copy(small_machine::memory(t, src), small_machine::memory(t, dst),
                         int64_t(megabytes * 1e6), {}, int(ids.size())));
  const auto times =
      fluid ? simulate_fluid(p.plan, t) : SimExecutor{t}.execute(p.plan).ops;
  std::vector<double> found;
  for (const OpId id : ids) found.push_back(times[id.index()].end);
  return found;
}

void expect_ends(const Topology::Description& d,
                 const std::vector<std::tuple<std::string, std::string, double>>& copies,
                 const std::vector<double>& expected) {
  const Topology t{d};
  for (const bool fluid : {false, true}) {
    const auto found = ends(t, copies, fluid);
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-12) << i << fluid;
  }
}

TEST(SpreadCopies, TakeTheRateOfTheirSlowestPart) {
  expect_ends(small_machine::two_hosts(), {{"h*", "g0", 16}}, {1e-3});
  expect_ends(small_machine::two_hosts(), {{"g1", "h*", 16}}, {1e-3});
}

// 40/3 GB/s each until the copy from h0 is done at 1.5 ms; then 16 for the remaining 4
// MB.
TEST(SpreadCopies, ShareAHostWithWholeOnes) {
  expect_ends(small_machine::two_hosts(), {{"h*", "g1", 24}, {"h0", "g0", 20}},
              {1.75e-3, 1.5e-3});
}

// Two halves and a whole copy count as two: all of the group's 9 GB/s, x / 2 + y / 2 + z,
// hence 4.5 each until the whole one is done at 2 ms. Then the halves count as one, 6
// GB/s: 6 each.
TEST(SpreadCopies, CountInAGroupByTheirParts) {
  auto d = small_machine::two_hosts();
  small_machine::add_group(d, "memory 0", {LinkId{0}}).capacity =
      small_machine::capacity({{1, 6}, {2, 9}});
  expect_ends(d, {{"h*", "g0", 15}, {"h*", "g1", 15}, {"h0", "g0", 9}},
              {3e-3, 3e-3, 2e-3});
}

}  // namespace
}  // namespace tilerail::testing
