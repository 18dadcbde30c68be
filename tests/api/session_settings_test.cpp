#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "tests/api/fake_hardware.hpp"
#include "tests/api/multiplication.hpp"

namespace tilerail::api {
namespace {

using namespace test;

TEST(SessionSettings, SettersChangeLaterPlansAndKeepOldPlansCached) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles());
  Multiplication call{40, 50, 64, 2, 1};
  const auto run = [&] { session->gemm(call.x); };
  run();
  session->set_devices({1});
  run();
  EXPECT_EQ(log->binds, 2);
  session->set_devices({0, 1});
  run();
  EXPECT_EQ(log->binds, 2);
  session->set_policy("tilerail");
  session->set_override("tile=32");
  run();
  EXPECT_EQ(log->binds, 3);
  EXPECT_EQ(session->policy(), "tilerail+tile=32");
}

TEST(SessionSettings, ASetterThatIsRefusedChangesNothing) {
  const auto session = fake_session(std::make_shared<Log>(), small_tiles());
  const std::string policy = session->policy();
  EXPECT_THROW(session->set_policy("no-such"), InputError);
  EXPECT_THROW(session->set_override("tile=-4"), InputError);
  EXPECT_THROW(session->set_override("nonsense"), InputError);
  EXPECT_THROW(session->set_devices({0, 0}), InputError);
  EXPECT_THROW(session->set_devices({-1}), InputError);
  EXPECT_THROW(session->set_devices({2}), HardwareError);
  EXPECT_EQ(session->policy(), policy);
  EXPECT_EQ(session->devices(), (std::vector<int>{0, 1}));
}

TEST(SessionSettings, DevicesThatTheMachineLacksAreLeftOutUnlessNamed) {
  EXPECT_EQ(fake_session(std::make_shared<Log>(), {}, 1)->devices(), std::vector<int>{0});
  EXPECT_EQ(fake_session(std::make_shared<Log>(), {}, 8)->devices(),
            (std::vector<int>{0, 1}));
  ContextOptions options;
  options.devices = {1};
  EXPECT_THROW(fake_session(std::make_shared<Log>(), options, 1), HardwareError);
  options.devices = {4};  // a CUDA device, but not in the description
  EXPECT_THROW(fake_session(std::make_shared<Log>(), options, 8), InputError);
}

TEST(SessionSettings, PlansAreBoundedInNumber) {
  const auto log = std::make_shared<Log>();
  ContextOptions options = small_tiles();
  options.cached_plans = 2;
  const auto session = fake_session(log, options);
  for (const int64_t m : {10, 20, 30, 30, 20, 10}) {
    Multiplication call{m, 20, 20, 1, 1};
    session->gemm(call.x);
    call.expect_right();
  }
  EXPECT_EQ(session->cached_plans(), 2u);
  EXPECT_EQ(log->binds, 4);  // 10, 20, 30, and 10 again
}

TEST(SessionSettings, AReservationHasAllStreamsThatPlansCanUse) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log);
  for (const std::string streams : {"1", "3", "64"}) {
    session->set_override("compute-streams=" + streams);
    session->reserve(1000);
    EXPECT_EQ(std::to_string(log->reserved_streams), streams);
  }
  session->set_policy("tilerail");  // leaves the number of streams to each plan
  session->reserve(1000);
  for (const int64_t size : {64, 256, 1024}) {
    Multiplication call{size, size, 8, 1, 1};
    session->gemm(call.x);
    std::map<MemoryId, int> streams;
    for (const Queue& queue : log->plan->queues)
      streams[queue.dst] += queue.kind == Queue::Kind::compute;
    for (const auto& [gpu, count] : streams) EXPECT_LE(count, log->reserved_streams);
  }
}

TEST(SessionSettings, ATopologyComesFromAFileAnObjectOrTheEnvironment) {
  const std::string file = TILERAIL_SOURCE_DIR "/topologies/hgx-h200.toml";
  ContextOptions options;
  EXPECT_EQ(fake_session(std::make_shared<Log>(), options)->topology_name(), "two-gpu")
      << "the hardware's own";
  options.topology = file;
  EXPECT_EQ(fake_session(std::make_shared<Log>(), options)->topology_name(), "hgx-h200");
  options.machine = std::make_shared<Topology>(test::FakeHardware::machine());
  EXPECT_EQ(fake_session(std::make_shared<Log>(), options)->topology_name(), "two-gpu");
  setenv("TILERAIL_TOPOLOGY", file.c_str(), 1);
  EXPECT_EQ(fake_session(std::make_shared<Log>())->topology_name(), "hgx-h200");
  setenv("TILERAIL_TOPOLOGY", "karolina-hgx-a100", 1);
  setenv("TILERAIL_TOPOLOGIES", TILERAIL_SOURCE_DIR "/topologies", 1);
  EXPECT_EQ(fake_session(std::make_shared<Log>())->topology_name(), "karolina-hgx-a100");
  unsetenv("TILERAIL_TOPOLOGY");
  unsetenv("TILERAIL_TOPOLOGIES");
  options.machine.reset();
  options.topology = "no-such-machine";
  EXPECT_THROW(fake_session(std::make_shared<Log>(), options), InputError);
}

}  // namespace
}  // namespace tilerail::api
