#include "backends/host/measure/calibrate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "backends/host/measure/host_machine.hpp"
#include "model/base/error.hpp"
#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"

namespace tilerail {
namespace {

TEST(HostMachine, JoinsEveryTwoMemoriesDirectly) {
  const Topology topology{host_machine(3, 2)};
  ASSERT_EQ(topology.gpus().size(), 3U);
  ASSERT_EQ(topology.memories().size(), 4U);
  for (size_t i = 0; i < 4; ++i) {
    for (size_t j = 0; j < 4; ++j) {
      if (i == j) continue;
      EXPECT_EQ(topology.route(MemoryId{i}, MemoryId{j}).size(), 1U);
      EXPECT_EQ(topology.groups_on(MemoryId{i}, MemoryId{j}).size(), 1U);  // one RAM
    }
  }
  for (const MemoryId gpu : topology.gpus())
    EXPECT_EQ(topology.memory(gpu).engines().total, 2);
}

TEST(HostMachine, AKernelTakesOneWorker) {
  // One kernel, large or small, takes one of 4 workers; 10 GFLOP/s per worker: 2 x 1024^3
  // in 0.2147 s.
  const Topology topology{host_machine(1, 4)};
  const KernelTimes& kernels = topology.kernels_of(topology.gpus()[0]);
  EXPECT_DOUBLE_EQ(kernels.occupancy(10000, 10000), 0.25);
  EXPECT_DOUBLE_EQ(kernels.occupancy(1, 1), 0.25);
  EXPECT_NEAR(kernels.gemm_time(1024, 1024, 1024, DType::f64, Trans::no, Trans::no).value,
              2.0 * (1 << 30) / 10e9, 1e-9);
}

TEST(HostMachine, RefusesSizesOutOfRange) {
  EXPECT_THROW(host_machine(0, 1), InputError);
  EXPECT_THROW(host_machine(65, 1), InputError);
  EXPECT_THROW(host_machine(1, 0), InputError);
  EXPECT_THROW(host_machine(1, 1025), InputError);
}

/// With no budget every figure is measured once, which tests the shape without a long
/// run.
Topology::Description quick(int devices, int workers) {
  HostCalibrationOptions options;
  options.devices = devices, options.workers = workers;
  options.budget_seconds = 0;
  options.largest_gemm = 128;
  options.name = "quick";
  return calibrate_host(options);
}

TEST(CalibrateHost, WarnsAboutFiguresOfInsufficientPrecision) {
  HostCalibrationOptions options;
  options.devices = 1, options.workers = 1, options.budget_seconds = 0,
  options.largest_gemm = 64;
  std::vector<std::string> warnings;
  options.warning = [&](std::string_view what) { warnings.emplace_back(what); };
  calibrate_host(options);
  const auto missed = [](const std::string& what) {
    return ::testing::StartsWith(
        what + ": 95 % intervals within an unknown width (one sample) instead of 5.0 %");
  };
  EXPECT_THAT(warnings, ::testing::ElementsAre(missed("copies"), missed("kernels")));
}

TEST(CalibrateHost, WritesUncertaintyOfRepeatedFigures) {
  EXPECT_FALSE(quick(1, 1).uncertainty);
  HostCalibrationOptions options;
  options.devices = 1, options.workers = 1, options.budget_seconds = 2,
  options.largest_gemm = 64;
  double passed = 0;
  options.clock = [&] {
    return passed += 0.01;
  };  // time for ten rounds of all figures, regardless of the machine's load
  const Topology machine{calibrate_host(options)};
  ASSERT_TRUE(machine.description().uncertainty);
  const Uncertainty& u = *machine.description().uncertainty;
  for (const DType dtype : {DType::f64, DType::f32}) {
    ASSERT_TRUE(u.of_kernels(dtype));
    EXPECT_GT(u.of_kernels(dtype)->measured_shapes, 0);
  }
  EXPECT_GT(u.copies, 0);
  EXPECT_GT(u.columns, 0);
  EXPECT_EQ(u.issue, 0) << "threads take operations as they come";
}

TEST(CalibrateHost, DescribesAMachineThatCanBeBuiltAndReadBack) {
  const Topology::Description measured = quick(2, 1);
  const Topology topology{measured};
  EXPECT_EQ(topology.name(), "quick");
  EXPECT_EQ(topology.gpus().size(), 2U);
  const Topology again = read_topology(to_toml(measured), "quick.toml");
  EXPECT_EQ(to_toml(again.description()), to_toml(measured));
}

TEST(CalibrateHost, MeasuresBothDTypesAndAllRoles) {
  const Topology topology{quick(2, 1)};
  const KernelTimes& kernels = topology.kernels_of(topology.gpus()[0]);
  ASSERT_EQ(kernels.gemm.size(), 2U);
  for (const GemmCurve& curve : kernels.gemm) {
    ASSERT_EQ(curve.points.size(), 2U);  // 64 and 128
    EXPECT_EQ(curve.points[0].size, 64);
    EXPECT_EQ(curve.points[1].size, 128);
    for (const auto& point : curve.points) EXPECT_GT(point.rate.value, 0);
  }
  ASSERT_TRUE(kernels.memory_bandwidth);
  for (const Link& link : topology.links()) {
    ASSERT_TRUE(link.per_flow);
    EXPECT_LE(*link.per_flow, link.bandwidth);
    EXPECT_GT(link.latency.value, 0);
    EXPECT_EQ(link.source, "copies");
  }
  ASSERT_EQ(topology.groups().size(), 1U);
  const auto& points = topology.groups()[0].capacity->points;
  ASSERT_EQ(points.size(), 2U);  // one copy, and two simultaneous copies
  EXPECT_EQ(points[1].flows, 2);
}

TEST(CalibrateHost, MarksMeasuredAndAssumedFigures) {
  const Topology::Description d = quick(1, 2);
  const auto source = [&](const std::string& key) {
    const auto found = std::find_if(d.sources.begin(), d.sources.end(),
                                    [&](const Source& s) { return s.key == key; });
    return found == d.sources.end() ? Source{} : *found;
  };
  EXPECT_EQ(source("copies").kind, Source::Kind::measured);
  EXPECT_EQ(source("kernels").kind, Source::Kind::measured);
  EXPECT_EQ(source("shape").kind, Source::Kind::assumed);  // the number of devices is a
                                                           // choice
  EXPECT_THAT(source("kernels").text, ::testing::HasSubstr("2 simultaneous kernels"));
  for (const StridedEfficiency::Point& point : d.strided.points) {
    EXPECT_GT(point.efficiency, 0);
    EXPECT_LE(point.efficiency, 1);
  }
}

TEST(CalibrateHost, RefusesOptionsOutOfRange) {
  HostCalibrationOptions options;
  options.budget_seconds = -1;
  EXPECT_THROW(calibrate_host(options), InputError);
  options = {};
  options.largest_gemm = 63;
  EXPECT_THROW(calibrate_host(options), InputError);
  options = {};
  options.devices = -3;
  EXPECT_THROW(calibrate_host(options), InputError);
}

}  // namespace
}  // namespace tilerail
