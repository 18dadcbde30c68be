// Points of a sweep, its checks, its hash and its parts.
#include "study/sweep/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "model/base/files.hpp"
#include "study/sweep/keys.hpp"
#include "study/sweep/run_sweep.hpp"
#include "study/sweep/sweep_file.hpp"
#include "study/sweep/sweep_table.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail::study {
namespace {

constexpr const char* two_gpu = TILERAIL_SOURCE_DIR "/topologies/two-gpu.toml";

Sweep sweep(const std::vector<std::string>& axes) {
  Sweep made;
  made.base.problem.gemm = "64";
  made.base.machine.topology = two_gpu;
  for (const std::string& axis : axes) made.axes.push_back(parse_axis(axis));
  return made;
}

TEST(Sweep, TheLastAxisChangesFastest) {
  const Sweep s = sweep(
      {"policy=tilerail,gemmex", "k=1K..4K x2", "link:host->pcie0.bandwidth & link:pcie0->host.bandwidth=6,12 GB/s"});
  ASSERT_EQ(s.points(), 12u);
  const JobText job = s.job(9);  // 1, 1, 1
  EXPECT_EQ(job.policy.name, "gemmex");
  EXPECT_EQ(job.problem.gemm, "64,64,2048");
  EXPECT_THAT(job.machine.settings,
              ::testing::ElementsAre("link:host->pcie0.bandwidth=12 GB/s", "link:pcie0->host.bandwidth=12 GB/s"));
  EXPECT_EQ(s.axes[2].column(), "link:host->pcie0.bandwidth & link:pcie0->host.bandwidth_GB/s");
  check_sweep(s);
}

TEST(Sweep, AFieldOfAPolicyReplacesWhatTheBaseSays) {
  Sweep s = sweep({"routing=eta"});
  s.base.policy.overrides = {"routing=initial", "batch=off"};
  EXPECT_THAT(s.job(0).policy.overrides, ::testing::ElementsAre("batch=off", "routing=eta"));
}

TEST(Sweep, WrongKeysAndValuesAreFoundBeforeAnythingRuns) {
  const auto refused = [](const std::vector<std::string>& axes, const std::vector<std::string>& words) {
    expect_input_error([&] { check_sweep(sweep(axes)); }, words);
  };
  refused({"colour=red"}, {"'colour' is not a key"});
  refused({"dtype=f64,f65"}, {"vary 'dtype=f64,f65': ", "f65"});
  refused({"policy=tilerail", "tile=64,0"}, {"vary 'tile=64,0': ", "'0' is out of range"});
  refused({"gpus=1,9"}, {"vary 'gpus=1,9': ", "9"});
  refused({"link:host->gpu7.bandwidth=1,2 GB/s"}, {"link:host->gpu7.bandwidth"});
  refused({"topology=" + std::string{two_gpu} + ",no-such-machine"}, {"no-such-machine"});
  refused({"tile=64", "tile=128"}, {"vary 'tile=128': vary: 'tile' is given twice"});
  refused({"m=1..1K +1", "n=1..1K +1"}, {"1.049e+06 points; expected at most 1000000"});
  expect_input_error([] { parse_axis("gemm"); }, {"vary 'gemm': 'gemm' is not KEY=VALUES"});
  expect_input_error([] { parse_axis("m & =1"); }, {"key: is missing"});
}

TEST(Sweep, NoKeyTakesAwayWhatAnotherSays) {
  const auto refused = [](const std::vector<std::string>& axes, const std::vector<std::string>& words) {
    expect_input_error([&] { check_sweep(sweep(axes)); }, words);
  };
  const auto taken = [](const std::vector<std::string>& axes) { check_sweep(sweep(axes)); };
  refused({"m=1K,2K", "gemm=256,512"}, {"vary 'gemm=256,512': gemm: gives all three sizes, and 'm' is given, too"});
  refused({"gemm=256,512", "n & k=1K,2K"}, {"gemm: gives all three sizes, and 'n'"});
  const std::string wide = "link:*.bandwidth=10,20 GB/s", narrow = "link:host<->pcie0.bandwidth=5,6 GB/s";
  refused({narrow, wide}, {"vary 'link:*.bandwidth=10,20 GB/s': 'link:*.bandwidth=10 GB/s' sets what 'link:host<->"});
  refused({"link:host->*.bandwidth=5,6 GB/s", "link:*->pcie0.bandwidth=5,6 GB/s"}, {"sets what"});
  refused({"link:host->*.bandwidth=5,6 GB/s", "link:host->pcie0.bandwidth=5,6 GB/s"}, {"sets what"});
  taken({wide, narrow});
  taken({narrow, "link:*.bandwidth=x1,x2"});
  taken({narrow, "link:*.latency=1,2 us"});
  Sweep based = sweep({wide});
  based.base.machine.settings = {"link:host->pcie0.bandwidth=5 GB/s"};
  expect_input_error([&] { check_sweep(based); }, {"sets what 'link:host->pcie0.bandwidth=5 GB/s' sets"});
  based.base.machine.settings = {"link:*.bandwidth=5 GB/s"};
  EXPECT_THAT(based.job(1).machine.settings, ::testing::ElementsAre("link:*.bandwidth=20 GB/s"));
}

TEST(Sweep, SizesAreOfGemmOrAllThree) {
  Sweep one = sweep({"m=1K,2K"});
  EXPECT_EQ(one.job(1).problem.gemm, "2048,64,64");
  one.base.problem.gemm.reset();
  expect_input_error([&] { check_sweep(one); }, {"vary 'm=1K,2K': n: is missing; expected all of m, n and k"});
  Sweep all = sweep({"m=1K,2K", "n & k=64,128"});
  all.base.problem.gemm.reset();
  check_sweep(all);
  EXPECT_EQ(all.job(3).problem.gemm, "2048,128,128");
  const std::string rest = "\ntopology = \"" + std::string{two_gpu} + "\"\n";
  EXPECT_EQ(read_sweep("[base]\nm = 512\ngemm = 128" + rest, "s.toml").job(0).problem.gemm, "512,128,128");
  const Sweep both = read_sweep("[base]\nm = 512" + rest + "[[vary]]\nkey = \"gemm\"\nvalues = [1]\n", "s.toml");
  expect_input_error([&] { check_sweep(both); }, {"s.toml:5:7: gemm: gives all three sizes, and 'm'"});
}

TEST(Sweep, AnErrorOfAFirstValueNamesItsPlaceOnce) {
  const auto refused = [](const std::string& file, const std::string& expected) {
    const std::string base = "[base]\ngemm = 64\ntopology = \"" + std::string{two_gpu} + "\"\n";
    try {
      check_sweep(read_sweep(base + file, "s.toml"));
      FAIL() << "nothing is refused of " << file;
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string{error.what()}.starts_with(expected)) << error.what();
    }
  };
  const std::string good = "[[vary]]\nkey = \"tile\"\nvalues = [16, 32]\n";
  refused(good + "[[vary]]\nkey = \"dtype\"\nvalues = [\"f65\", \"f64\"]\n", "s.toml:9:10: dtype");
  refused("[[vary]]\nkey = \"dtype\"\nvalues = [\"f65\"]\n" + good, "s.toml:6:10: dtype");
  refused("dtype = \"f65\"\n" + good, "s.toml:4:9: dtype");
  refused("set = [\"batch=off\",\n  \"routing=air\"]\n" + good, "s.toml:5:3: set: 'routing=air'");
  refused("batch = \"maybe\"\n" + good, "s.toml:4:9: set: 'batch=maybe'");
  refused("\"issue.per_op\" = \"1 apple\"\n" + good, "s.toml:4:18: issue.per_op=1 apple");
  refused("n = \"many\"\n" + good, "s.toml:4:5: gemm: 'many'");
  refused("lda = 3\n" + good, "s.toml:4:7: lda");
  refused("[[vary]]\nkey = \"colour\"\nvalues = [1]\n", "s.toml:5:7: 'colour' is not a key");
  refused("[[vary]]\nkey = \"tile\"\nvalues = [16, [1]]\n", "s.toml:6:15: vary: values");
  refused("set = [\"routing=eta\"]\nrouting = \"initial\"\n", "s.toml:5:11: 'routing' is given twice");
  refused("[[vary]]\nkey = \"gemm\"\nvalues = [1e300]\n", "s.toml:6:10: gemm");
}

TEST(Sweep, NamesInKeysMayHoldWhatPartsThem) {
  const auto keys = [](const std::string& text) { return parse_axis(text).keys; };
  using ::testing::ElementsAre;
  EXPECT_THAT(keys("link:a&b->c.bandwidth=1,2 GB/s"), ElementsAre("link:a&b->c.bandwidth"));
  EXPECT_THAT(keys("link:a=b->c.bandwidth & m=1,2"), ElementsAre("link:a=b->c.bandwidth", "m"));
  EXPECT_THAT(keys("link:a.bandwidth & link:b & c.latency=1"), ElementsAre("link:a.bandwidth", "link:b & c.latency"));
  EXPECT_THAT(keys("colour & m=1"), ElementsAre("colour", "m"));
  EXPECT_EQ(parse_axis("topology=a=b.toml").values.texts, std::vector<std::string>{"a=b.toml"});
  EXPECT_EQ(parse_axis("topology=1e2").values.texts, std::vector<std::string>{"1e2"});
  const std::string text = [] {
    std::string many = "link:a.bandwidth";
    for (int i = 0; i < 500; ++i) many += " & link:a.bandwidth";
    return many + " & ?=1";
  }();
  EXPECT_EQ(parse_axis(text).keys.size(), 502u);  // in no time
}

TEST(Sweep, MachinesCanBeNamed) {
  const Sweep s = sweep({"name=a,b"});
  EXPECT_EQ(machine_of(s.job(1), check_sweep(s)).name(), "b");
}

TEST(Sweep, ItsHashIsOfAllThatItsResultsDependOn) {
  std::set<std::string> hashes;
  const auto add = [&](const Sweep& s, const std::string& version = "1") {
    hashes.insert(hash_of(s, check_sweep(s), version));
  };
  add(sweep({"tile=32,64"})), add(sweep({"tile=32,64"}));
  EXPECT_EQ(hashes.size(), 1u);
  add(sweep({"tile=64,32"})), add(sweep({"tile=32,64"}), "2"), add(sweep({"tile=32,64", "dtype=f64"}));
  Sweep other = sweep({"tile=32,64"});
  other.base.problem.beta = "0";
  add(other);
  other.base.machine.topology = TILERAIL_SOURCE_DIR "/topologies/clx-ai.toml";
  add(other);
  EXPECT_EQ(hashes.size(), 6u);
  const auto run_with = [&](const RunSettings& run) {
    other.backend = "host", other.run = run;
    add(other);
  };
  RunSettings run;
  run_with(run);
  run.energy_seconds += 1, run_with(run);
  run.pages = run.pages == HostPages::spread ? HostPages::plain : HostPages::spread, run_with(run);
  EXPECT_EQ(hashes.size(), 9u);
}

TEST(Sweep, PartsAreInterleaved) {
  EXPECT_EQ(parse_part("3/8").number, 3u);
  EXPECT_EQ(parse_part("3/8").of, 8u);
  for (const char* text : {"3", "0/8", "9/8", "3/8/9", "a/b", "/8"})
    expect_input_error([&] { parse_part(text); }, {"part"});
}

TEST(Sweep, APartHasEachOfItsPointsAlsoThoseThatFail) {
  Sweep s = sweep({"gemm=64,100000", "dtype=f64,f32,f16,bf16"});
  s.base.problem.place = "0:0:0";  // where 64 fit
  const Machines machines = check_sweep(s);
  const SweepRun run = run_sweep(s, machines, {"hash", "1"}, {2, 3}, {.count = 2});
  EXPECT_EQ(run.points, 3u);
  std::vector<size_t> points, failed;
  for (const auto& [point, cells] : run.rows) {
    points.push_back(point);
    if (!cells["error"].is_null()) failed.push_back(point);
  }
  EXPECT_EQ(points, (std::vector<size_t>{1, 4, 7}));
  EXPECT_EQ(failed, (std::vector<size_t>{4, 7}));
  EXPECT_EQ(run.failed, failed.size());
  EXPECT_EQ(run_sweep(s, machines, {"hash", "1"}, {9, 9}, {}).points, 0u);
}

TEST(SweepTable, PartsAreJoinedOrRefused) {
  const auto table = [](const std::string& rows) {
    return read_sweep_table("sweep,point,points,tile,machine,error\n" + rows, "t.csv");
  };
  EXPECT_EQ(table("s,0,2,32,m,\n").axes, 1u);
  EXPECT_EQ(to_csv(table("s,1,2,64,m,\ns,0,2,32,m,\n")),
            "sweep,point,points,tile,machine,error\ns,0,2,32,m,\ns,1,2,64,m,\n");
  for (const auto& [rows, quoted] : {std::pair{"s,0,2,32,m\n", "t.csv:2:1: has 5 cells; expected 6"},
                                     {"s,2,2,32,m,\n", "t.csv:2:3: point 2 is not below 2"},
                                     {"s,0,2,32,m,\ns,0,2,32,m,\n", "t.csv:3:3: point 0 is there twice"},
                                     {"s,0,2,32,m,\nz,1,2,32,m,\n", "'z' is another sweep"},
                                     {"s,0,2,32,m,\ns,1,3,32,m,\n", "3 points; expected 2"},
                                     {"s,-1,2,32,m,\n", "t.csv:2:3"}})
    expect_input_error([&r = rows, &table] { table(r); }, {quoted});
  EXPECT_EQ(to_csv(table("s,0,2,32,m,\r\n")), "sweep,point,points,tile,machine,error\ns,0,2,32,m,\n");
  EXPECT_TRUE(table("").rows.empty());
  expect_input_error([] { read_sweep_table("m,n,k\n", "t.csv"); }, {"is not the header of a sweep"});
}

}  // namespace
}  // namespace tilerail::study
