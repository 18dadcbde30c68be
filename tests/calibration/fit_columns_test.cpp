// Costs of 2-D copies, fitted to measurements of a known machine.
#include <gtest/gtest.h>

#include <algorithm>

#include "calibration/fit_topology.hpp"
#include "tests/calibration/made_machine.hpp"

namespace tilerail {
namespace {

using namespace made;

Topology fitted_machine(const Topology& machine) {
  return Topology{fit_topology(Meter{machine}.everything(), HostPages::spread)};
}

TEST(FitColumns, TheFitReproducesCostsOfEachPitchAndOfReuse) {
  const Topology machine{switch_machine(4)}, t = fitted_machine(machine);
  EXPECT_NEAR(t.description().strided.cache.value,
              machine.description().strided.cache.value, 4e6);
  EXPECT_EQ(t.description().strided.border, machine.description().strided.border);
  for (const double column : {2048., 4096., 8192., 12000.})
    for (const double pitch : {8192., 16384., 20000., 50000., 65536., 131072., 262144.})
      for (const bool again : {false, true}) {
        const StridedEfficiency::Copy copy{
            .column = Bytes{column}, .pitch = Bytes{pitch}, .again = again ? 1.0 : 0.0};
        EXPECT_NEAR(t.description().strided.of(copy),
                    machine.description().strided.of(copy), 1e-3)
            << column << " bytes, " << pitch << " apart" << (again ? ", again" : "");
      }
}

// Finding the pages takes as long as the packed copy alone: half the rate. Under load it
// takes 1.5 times as long: 1 / (1 + 1.5). A run with almost no loss contributes nothing.
TEST(FitColumns, KernelsLengthenFindingPages) {
  Measurements m = Meter{Topology{switch_machine(4)}}.everything();
  const auto add = [&](double column, double strided, bool beside) {
    m.strided.push_back({"host",
                         "gpu0",
                         column,
                         64,
                         131072,
                         fills_any_cache,
                         beside,
                         {strided, 0, 3},
                         {50e9, 0, 3}});
  };
  EXPECT_EQ(fit_topology(m, HostPages::spread).strided.beside, 1) << "not measured";
  std::erase_if(m.strided, [](const StridedRun& run) {
    return run.between_bytes >= fills_any_cache;
  });
  add(4096, 25e9, false), add(4096, 20e9, true);
  add(65536, 49e9, false), add(65536, 10e9, true);
  const StridedEfficiency found = fit_topology(m, HostPages::spread).strided;
  EXPECT_NEAR(found.beside, 1.5, 1e-9);
  EXPECT_DOUBLE_EQ(found.points.front().efficiency, 0.5) << "of the copies alone";
}

// Columns of 4 KiB lose nothing at a pitch of 16 KiB, and take twice as long at 64 KiB.
// Under load, the latter take 1 + 1.5, and the former lose a third of the 1.5; 0.33 x 1.5
// is nearest in hundredths.
TEST(FitColumns, ColumnsThatShareLinesShowEvictionByKernels) {
  Measurements m = Meter{Topology{switch_machine(4)}}.everything();
  std::erase_if(m.strided, [](const StridedRun& run) {
    return run.between_bytes >= fills_any_cache;
  });
  const auto add = [&](double pitch, double times, bool beside) {
    for (const double column : {4096., 8192.})
      m.strided.push_back({"host",
                           "gpu0",
                           column,
                           64,
                           pitch,
                           fills_any_cache,
                           beside,
                           {50e9 / times, 0, 3},
                           {50e9, 0, 3}});
  };
  add(16384, 1, false), add(65536, 2, false);
  add(65536, 2.5, true);
  EXPECT_EQ(fit_topology(m, HostPages::spread).strided.forgotten, 0)
      << "no column that shares a line";
  add(16384, 1.5, true);
  const StridedEfficiency found = fit_topology(m, HostPages::spread).strided;
  EXPECT_NEAR(found.forgotten, 0.33, 1e-9);
  EXPECT_NEAR(found.beside, 1.5, 0.02);
}

// A copy that was measured alone is compared with the prediction for copies alone.
TEST(FitColumns, InterferenceOfKernelsDoesNotIncreaseUncertainty) {
  Measurements m = Meter{Topology{switch_machine(4)}}.everything();
  const Topology::Description before = fit_topology(m, HostPages::spread);
  const auto loses = [](const StridedRun& run) {
    return run.src == "host" && run.between_bytes >= fills_any_cache &&
           run.packed.mean > 1.3 * run.strided.mean;
  };
  const auto found = std::ranges::find_if(m.strided, loses);
  ASSERT_NE(found, m.strided.end());
  StridedRun run = *found;
  run.beside = true,
  run.strided.mean = run.packed.mean / (1 + 3 * (run.packed.mean / run.strided.mean - 1));
  m.strided.push_back(run);
  const Topology::Description after = fit_topology(m, HostPages::spread);
  EXPECT_NEAR(after.strided.beside, 3, 1e-3);
  ASSERT_TRUE(before.uncertainty && after.uncertainty);
  EXPECT_NEAR(after.uncertainty->columns, before.uncertainty->columns, 0.01);
}

}  // namespace
}  // namespace tilerail
