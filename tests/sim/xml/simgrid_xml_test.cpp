// The written platforms in plain SimGrid without TileRail's settings, one process per
// file.
#include "model/machine/simgrid_xml.hpp"

#include <gtest/gtest.h>

#include <simgrid/s4u.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "model/machine/settings/machine_settings.hpp"
#include "model/machine/topology_check.hpp"
#include "model/machine/topology_toml.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

namespace s4u = simgrid::s4u;

/// Copies 64 MiB and then 1 KiB between each pair, one after another; call it in a
/// separate process. Returns the largest relative error.
double largest_error(const Topology& machine, const std::string& file) {
  char name[] = "test", quiet[] = "--log=root.thres:critical";
  char* arguments[] = {name, quiet, nullptr};
  int count = 2;
  s4u::Engine engine{&count, arguments};
  engine.load_platform(file);
  double worst = 0;
  size_t copies = 0;
  s4u::Actor::create("copies", engine.get_all_hosts().front(), [&] {
    for (size_t s = 0; s < machine.description().memories.size(); ++s)
      for (size_t d = 0; d < machine.description().memories.size(); ++d) {
        const MemoryId src{s}, dst{d};
        if (s == d || !machine.has_route(src, dst)) continue;
        for (const double bytes : {64.0 * 1024 * 1024, 1024.0}) {
          const double begin = s4u::Engine::get_clock();
          s4u::Comm::sendto(s4u::Host::by_name(machine.memory(src).name),
                            s4u::Host::by_name(machine.memory(dst).name),
                            uint64_t(bytes));
          const double ours =
              (machine.latency(src, dst) + Bytes{bytes} / machine.pair_rate(src, dst))
                  .value;
          ++copies;
          worst =
              std::max(worst, std::abs(s4u::Engine::get_clock() - begin - ours) / ours);
        }
      }
  });
  engine.run();
  return copies >= 2 * machine.gpus().size() ? worst
                                             : 1.0;  // at least in and out of each GPU
}

void expect_our_times(const Topology& machine) {
  const std::string file = ::testing::TempDir() + "/" + std::to_string(getpid()) + ".xml";
  std::ofstream{file} << to_simgrid_xml(machine);
  const pid_t child = fork();
  if (child == 0) {
    const double error = largest_error(machine, file);
    if (error > 1e-3) std::fprintf(stderr, "largest error %g\n", error);
    _exit(error <= 1e-3 ? 0 : 1);  // SimGrid's clock ends steps within 1 ns
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
      << machine.name() << ": status " << status;
  std::filesystem::remove(file);
}

TEST(SimGridXml, SingleCopiesOfEveryMachineTakeOurTimes) {
  for (const auto& file :
       std::filesystem::directory_iterator{TILERAIL_SOURCE_DIR "/topologies"})
    expect_our_times(load_topology(file.path().string()));
}

TEST(SimGridXml, SplitCopiesTakeOurTimes) {
  using namespace small_machine;
  auto d = memories_and_switches(2, 2);
  for (const std::string gpu : {"g0", "g1"}) {
    add_links(d, "h", "s0", 12), add_links(d, "s0", gpu, 30);
    add_links(d, "h", "s1", 20), add_links(d, "s1", gpu, 30);
  }
  const std::vector<Link> links = Topology{d}.links();
  const auto id = [&](const std::string& name) {
    return LinkId{size_t(std::ranges::find(links, name, &Link::name) - links.begin())};
  };
  for (const std::string rail : {"s0", "s1"})
    d.routes.push_back({MemoryId{0},
                        MemoryId{1},
                        {id("h->" + rail), id(rail + "->g0")},
                        "s",
                        rail == "s0" ? 1 : 2});
  for (const std::string rail : {"s0", "s1"})
    d.routes.push_back(
        {MemoryId{1}, MemoryId{0}, {id("g0->" + rail), id(rail + "->h")}, "s"});
  ASSERT_EQ(Topology{d}.parts(MemoryId{0}, MemoryId{1}), 3);
  expect_our_times(Topology{d});
  d.routes.clear();
  d.split_paths = true;
  expect_our_times(Topology{d});
}

TEST(SimGridXml, NamesCanContainCharactersOfXml) {
  const std::vector<std::string> settings{"name=<\"&'>"};
  expect_our_times(with_settings(test::shipped("two-gpu"), settings));
}

}  // namespace
}  // namespace tilerail
