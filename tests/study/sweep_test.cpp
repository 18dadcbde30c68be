// Points of a sweep, its checks and its table.
#include "study/sweep/sweep.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.hpp"

namespace tilerail::study {
namespace {

constexpr const char* two_gpu = TILERAIL_SOURCE_DIR "/topologies/two-gpu.toml";

Sweep sweep(const std::vector<std::string>& axes) {
  Sweep made;
  made.base.problem.gemm = "64";
  made.base.policy.name = "gemmex";  // plans quickly
  made.base.machine.topology = two_gpu;
  for (const std::string& axis : axes) made.axes.push_back(parse_axis(axis));
  return made;
}

TEST(Sweep, TheLastAxisChangesFastest) {
  const Sweep s =
      sweep({"policy=tilerail,gemmex", "k=1K..4K x2",
             "link:host->pcie0.bandwidth & link:pcie0->host.bandwidth=6,12 GB/s"});
  ASSERT_EQ(s.points(), 12u);
  const JobText job = s.job(9);  // 1, 1, 1
  EXPECT_EQ(job.policy.name, "gemmex");
  EXPECT_EQ(job.problem.gemm, "64,64,2048");
  EXPECT_THAT(job.machine.settings,
              ::testing::ElementsAre("link:host->pcie0.bandwidth=12 GB/s",
                                     "link:pcie0->host.bandwidth=12 GB/s"));
  EXPECT_EQ(s.axes[2].column(),
            "link:host->pcie0.bandwidth & link:pcie0->host.bandwidth_GB/s");
  check_sweep(s);
}

TEST(Sweep, AFieldOfAPolicyReplacesTheValueOfTheBase) {
  Sweep s = sweep({"routing=eta"});
  s.base.policy.overrides = {"routing=initial", "batch=off"};
  EXPECT_THAT(s.job(0).policy.overrides,
              ::testing::ElementsAre("batch=off", "routing=eta"));
}

TEST(Sweep, WrongKeysAndValuesAreFoundBeforeAnythingRuns) {
  const auto refused = [](const std::vector<std::string>& axes,
                          const std::vector<std::string>& words) {
    expect_input_error([&] { check_sweep(sweep(axes)); }, words);
  };
  refused({"colour=red"}, {"'colour' is not a key"});
  refused({"dtype=f64,f65"}, {"vary 'dtype=f64,f65': ", "f65"});
  refused({"policy=tilerail", "tile=64,0"},
          {"vary 'tile=64,0': ", "tile: '0' is invalid"});
  refused({"gpus=1,9"}, {"vary 'gpus=1,9': ", "9"});
  refused({"link:host->gpu7.bandwidth=1,2 GB/s"}, {"link:host->gpu7.bandwidth"});
  refused({"topology=" + std::string{two_gpu} + ",no-such-machine"}, {"no-such-machine"});
  refused({"tile=64", "tile=128"}, {"vary 'tile=128': 'tile' is given twice"});
  refused({"m=1..1K +1", "n=1..1K +1"}, {"1.049e+06 points; expected at most 1000000"});
  expect_input_error([] { parse_axis("gemm"); },
                     {"vary 'gemm': 'gemm' is not KEY=VALUES"});
  refused({"m & =1"}, {"'' is not a key"});
  for (const char* word : {"any", "bogus", "best2"})
    refused({fmt::format("devices={}", word)},
            {fmt::format("devices: '{}' is not a processor of two-gpu", word)});
}

TEST(Sweep, DevicesAreAChoiceAmongGivenOnes) {
  const Sweep choices =
      sweep({"devices=best(metric=edp) of 0;best(metric=edp) of 0,1;1"});
  const JobText one = choices.job(0), both = choices.job(1), given = choices.job(2);
  EXPECT_EQ(one.machine.devices, "0");
  EXPECT_EQ(both.machine.devices, "0,1");
  EXPECT_EQ(both.policy.overrides, std::vector<std::string>{"devices=best(metric=edp)"});
  EXPECT_EQ(given.machine.devices, "1");
  EXPECT_TRUE(given.policy.overrides.empty());
}

TEST(Sweep, SizesAreOfGemmOrAllThree) {
  Sweep one = sweep({"m=1K,2K"});
  EXPECT_EQ(one.job(1).problem.gemm, "2K,64,64");
  one.base.problem.gemm.reset();
  expect_input_error([&] { check_sweep(one); }, {"vary 'm=1K,2K': gemm: '1K,,' lacks n"});
  Sweep all = sweep({"m=1K,2K", "n & k=64,128"});
  all.base.problem.gemm.reset();
  check_sweep(all);
  EXPECT_EQ(all.job(3).problem.gemm, "2K,128,128");
}

TEST(Sweep, AnErrorOfAFirstValueNamesItsAxis) {
  const auto refused = [](const std::vector<std::string>& axes,
                          const std::string& expected) {
    try {
      check_sweep(sweep(axes));
      FAIL() << "nothing is refused of " << axes.front();
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string{error.what()}.starts_with(expected)) << error.what();
    }
  };
  refused({"tile=16,32", "dtype=f65,f64"}, "vary 'dtype=f65,f64': dtype: 'f65'");
  refused({"dtype=f65", "tile=16,32"}, "vary 'dtype=f65': dtype: 'f65'");
  refused({"gemm=1e300"}, "vary 'gemm=1e300': gemm: '1e300'");
  Sweep based = sweep({"tile=16,32"});
  based.base.problem.dtype = "f65";
  expect_input_error([&] { check_sweep(based); }, {"dtype: 'f65'"});
}

TEST(Sweep, NamesInKeysCanContainSeparators) {
  const auto keys = [](const std::string& text) { return parse_axis(text).keys; };
  using ::testing::ElementsAre;
  EXPECT_THAT(keys("link:a&b->c.bandwidth=1,2 GB/s"),
              ElementsAre("link:a&b->c.bandwidth"));
  EXPECT_THAT(keys("link:a=b->c.bandwidth & m=1,2"),
              ElementsAre("link:a=b->c.bandwidth", "m"));
  EXPECT_THAT(keys("link:a.bandwidth & link:b & c.latency=1"),
              ElementsAre("link:a.bandwidth", "link:b & c.latency"));
  EXPECT_THAT(keys("colour & m=1"), ElementsAre("colour", "m"));
  EXPECT_EQ(parse_axis("topology=a=b.toml").values, std::vector<std::string>{"a=b.toml"});
  EXPECT_EQ(parse_axis("topology=1e2").values, std::vector<std::string>{"1e2"});
  const std::string text = [] {
    std::string many = "link:a.bandwidth";
    for (int i = 0; i < 500; ++i) many += " & link:a.bandwidth";
    return many + " & ?=1";
  }();
  EXPECT_EQ(parse_axis(text).keys.size(), 502u);  // quickly
}

TEST(Sweep, MachinesCanBeNamed) {
  const Sweep s = sweep({"name=a,b"});
  EXPECT_EQ(machine_of(s.job(1), check_sweep(s)).name(), "b");
}

TEST(Sweep, EveryPointHasARowEvenIfItFails) {
  Sweep s = sweep({"gemm=64,100000", "dtype=f64,f32"});
  s.base.problem.place = "0:0:0";  // a cube of 64 fits there
  const auto rows = run_sweep(s, check_sweep(s), {.count = 2});
  ASSERT_EQ(rows.size(), 4u);
  for (size_t point = 0; point < rows.size(); ++point) {
    EXPECT_EQ(rows[point].point, point);
    EXPECT_EQ(rows[point].has_result(), point < 2);
    EXPECT_EQ(rows[point].error.has_value(), point >= 2);
  }
}

TEST(Sweep, AfterARequestToStopNoFurtherPointBegins) {
  const Sweep s = sweep({"tile=16,32,64"});
  size_t asked = 0;
  const auto rows =
      run_sweep(s, check_sweep(s), {.stop_asked = [&] { return ++asked > 1; }});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].point, 0u);
}

}  // namespace
}  // namespace tilerail::study
