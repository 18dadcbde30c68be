#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <thread>

#include "tests/api/fake_hardware.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail::api {
namespace {

using test::fake_session;
using test::Log;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// One call on random matrices with padding. Products of 64 terms below 1 in magnitude, times scalars below 3, are far
/// from the bound of 1e-12 only when something is wrong: 66 * 2^-53 * (3 * 64 + 3) < 1.5e-12 * 1.
class Multiplication {
 public:
  Multiplication(std::int64_t m, std::int64_t n, std::int64_t k, double alpha, double beta, unsigned seed = 1) {
    x.m = m, x.n = n, x.k = k;
    x.alpha = alpha, x.beta = beta;
    x.trans_a = 'N', x.trans_b = 'T';
    x.lda = m + 3, x.ldb = n + 1, x.ldc = m + 2;
    a = random(x.lda * k, seed), b = random(x.ldb * k, seed + 1), c = random(x.ldc * n, seed + 2);
    x.a = a.data(), x.b = b.data(), x.c = c.data();
    before = c;
  }

  void expect_right() const {
    for (std::int64_t j = 0; j < x.n; ++j) {
      for (std::int64_t i = 0; i < x.ldc; ++i) {
        const auto at = static_cast<std::size_t>(i + j * x.ldc);
        if (i >= x.m) {
          ASSERT_EQ(c[at], before[at]) << "padding";
          continue;
        }
        double sum = 0;
        for (std::int64_t p = 0; p < x.k && x.alpha != 0; ++p)
          sum += a[static_cast<std::size_t>(i + p * x.lda)] * b[static_cast<std::size_t>(j + p * x.ldb)];
        const double old = x.beta == 0 ? 0 : x.beta * before[at];
        ASSERT_NEAR(c[at], x.alpha * sum + old, 3e-12) << i << ", " << j;
      }
    }
  }

  GemmArguments x;
  std::vector<double> a, b, c, before;

 private:
  static std::vector<double> random(std::int64_t size, unsigned seed) {
    std::mt19937_64 engine{seed};
    std::uniform_real_distribution<double> uniform{-1, 1};
    std::vector<double> values(static_cast<std::size_t>(size));
    for (double& value : values) value = uniform(engine);
    return values;
  }
};

ContextOptions small_tiles(const std::string& policy = "tilerail") {
  ContextOptions options;
  options.policy = policy;
  options.overrides = {"tile=16"};
  return options;
}

class EachPolicy : public ::testing::TestWithParam<std::string> {};

TEST_P(EachPolicy, OnePlanServesAllAlphaAndBeta) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles(GetParam()));
  const double values[] = {2, 3, 1, -1, 0.5, 2.5};
  for (const double alpha : values) {
    for (const double beta : values) {
      Multiplication call{40, 50, 64, alpha, beta};
      GemmTimes times;
      session->gemm(call.x, nullptr, &times);
      EXPECT_EQ(times.planned, alpha == 2 && beta == 2);
      call.expect_right();
    }
  }
  EXPECT_EQ(log->binds, 1);
  EXPECT_EQ(session->cached_plans(), 1u);
}

TEST_P(EachPolicy, BetaZeroNeverReadsC) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles(GetParam()));
  Multiplication call{40, 50, 64, 1.5, 0};
  std::fill(call.c.begin(), call.c.end(), nan);
  session->gemm(call.x, nullptr, nullptr);
  for (std::int64_t j = 0; j < call.x.n; ++j)
    for (std::int64_t i = 0; i < call.x.m; ++i)
      ASSERT_FALSE(std::isnan(call.c[static_cast<std::size_t>(i + j * call.x.ldc)]));
  call.x.beta = 2;  // another plan: this one reads C
  session->gemm(call.x, nullptr, nullptr);
  EXPECT_EQ(log->binds, 2);
}

TEST_P(EachPolicy, WithoutAProductCIsScaledAndNeitherANorBIsTouched) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles(GetParam()));
  for (const double beta : {2.5, 0.0, -1.0}) {
    Multiplication by_alpha{40, 50, 64, 0, beta}, by_k{40, 50, 64, 1, beta};
    by_k.x.k = 0;
    for (Multiplication* call : {&by_alpha, &by_k}) {
      call->x.a = call->x.b = nullptr;
      if (beta == 0) call->c[0] = nan;
      session->gemm(call->x, nullptr, nullptr);
      if (beta == 0) call->before[0] = 0;
      call->expect_right();
    }
  }
  EXPECT_EQ(log->binds, 2);  // beta == 0 or not; alpha == 0 and k == 0 are the same problem
}

INSTANTIATE_TEST_SUITE_P(Session, EachPolicy, ::testing::Values("baseline", "gemmex", "tilerail"));

TEST(Session, NothingIsAskedOfTheHardwareWhereNothingIsToBeDone) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log);
  for (const auto& change : std::vector<void (*)(GemmArguments&)>{
           [](GemmArguments& x) { x.m = 0; },
           [](GemmArguments& x) { x.n = 0; },
           [](GemmArguments& x) { x.alpha = 0, x.beta = 1; },
           [](GemmArguments& x) { x.k = 0, x.beta = 1; },
       }) {
    Multiplication call{8, 8, 8, 2, 3};
    change(call.x);
    session->gemm(call.x, nullptr, nullptr);
    EXPECT_EQ(call.c, call.before);
  }
  EXPECT_TRUE(log->steps.empty());
  EXPECT_EQ(session->cached_plans(), 0u);
}

TEST(Session, NotANumberGoesThroughAsInBlas) {
  const auto session = fake_session(std::make_shared<Log>(), small_tiles());
  Multiplication call{20, 20, 20, nan, 1};
  session->gemm(call.x, nullptr, nullptr);
  EXPECT_TRUE(std::isnan(call.c[0]));
  Multiplication scaled{20, 20, 20, 0, nan};
  session->gemm(scaled.x, nullptr, nullptr);
  EXPECT_TRUE(std::isnan(scaled.c[0]));
}

TEST(Session, MatricesAreReadAfterTheCallersStreamAndReleasedAfterTheRun) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles());
  Multiplication call{20, 20, 20, 1, 1};
  int stream = 0;
  session->gemm(call.x, &stream, nullptr);
  EXPECT_EQ(log->stream, &stream);
  EXPECT_EQ(log->steps, (std::vector<std::string>{"wait", "access", "run", "finish", "release"}));
}

TEST(Session, ARunThatFailsReleasesTheMatricesAndLeavesTheSessionUsable) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles());
  Multiplication call{20, 20, 20, 1, 1};
  log->failures = 1;
  EXPECT_THROW(session->gemm(call.x, nullptr, nullptr), std::runtime_error);
  EXPECT_EQ(log->steps, (std::vector<std::string>{"wait", "access", "run", "release"}));
  session->gemm(call.x, nullptr, nullptr);
  call.expect_right();
  EXPECT_EQ(log->binds, 1);
}

TEST(Session, PlacesComeFromThePointers) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles());
  Multiplication call{40, 50, 64, 2, 1};
  log->on_device = {{call.a.data(), 0}, {call.c.data(), 1}};
  session->gemm(call.x, nullptr, nullptr);
  call.expect_right();
  log->on_device.clear();
  session->gemm(call.x, nullptr, nullptr);
  EXPECT_EQ(log->binds, 2) << "other places are another problem";
  log->on_device = {{call.b.data(), 5}};
  expect_input_error([&] { session->gemm(call.x, nullptr, nullptr); }, {"matrix B lies on CUDA device 5"});
}

TEST(Session, SettersChangeWhatIsPlannedAndOldPlansStayCached) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles());
  Multiplication call{40, 50, 64, 2, 1};
  const auto run = [&] { session->gemm(call.x, nullptr, nullptr); };
  run();
  session->set_devices({1});
  run();
  EXPECT_EQ(log->binds, 2);
  session->set_devices({0, 1});
  run();
  EXPECT_EQ(log->binds, 2);
  session->set_policy("baseline");
  session->set_override("tile=32");
  run();
  EXPECT_EQ(log->binds, 3);
  EXPECT_EQ(session->policy(), "baseline+tile=32");
}

TEST(Session, ASetterThatIsRefusedChangesNothing) {
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

TEST(Session, DevicesThatTheMachineLacksAreLeftOutUnlessNamed) {
  EXPECT_EQ(fake_session(std::make_shared<Log>(), {}, 1)->devices(), std::vector<int>{0});
  EXPECT_EQ(fake_session(std::make_shared<Log>(), {}, 8)->devices(), (std::vector<int>{0, 1}));
  ContextOptions options;
  options.devices = {1};
  EXPECT_THROW(fake_session(std::make_shared<Log>(), options, 1), HardwareError);
  options.devices = {4};  // there, but not in the description
  EXPECT_THROW(fake_session(std::make_shared<Log>(), options, 8), InputError);
}

TEST(Session, PlansAreBoundedInNumber) {
  const auto log = std::make_shared<Log>();
  ContextOptions options = small_tiles();
  options.cached_plans = 2;
  const auto session = fake_session(log, options);
  for (const std::int64_t m : {10, 20, 30, 30, 20, 10}) {
    Multiplication call{m, 20, 20, 1, 1};
    session->gemm(call.x, nullptr, nullptr);
    call.expect_right();
  }
  EXPECT_EQ(session->cached_plans(), 2u);
  EXPECT_EQ(log->binds, 4);  // 10, 20, 30, and 10 again
}

TEST(Session, AReservationHasAllStreamsThatPlansMayTake) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log);
  for (const std::string streams : {"1", "3", "64"}) {
    session->set_override("compute-streams=" + streams);
    session->reserve(1000);
    EXPECT_EQ(std::to_string(log->reserved_streams), streams);
  }
  session->set_policy("tilerail");  // leaves the number to each plan
  session->reserve(1000);
  for (const std::int64_t size : {64, 256, 1024}) {
    Multiplication call{size, size, 8, 1, 1};
    session->gemm(call.x, nullptr, nullptr);
    std::map<MemoryId, int> streams;
    for (const Queue& queue : log->plan->queues) streams[queue.dst] += queue.kind == Queue::Kind::compute;
    for (const auto& [gpu, count] : streams) EXPECT_LE(count, log->reserved_streams);
  }
}

TEST(Session, ThreadsMayShareOne) {
  const auto log = std::make_shared<Log>();
  const auto session = fake_session(log, small_tiles());
  std::vector<Multiplication> calls;
  for (unsigned t = 0; t < 4; ++t) calls.emplace_back(40, 30, 50, 1.0 + t, 0.5 * t, 10 * t);
  for (Multiplication& call : calls) call.x.a = call.a.data(), call.x.b = call.b.data(), call.x.c = call.c.data();
  std::vector<std::thread> threads;
  for (Multiplication& call : calls) threads.emplace_back([&] { session->gemm(call.x, nullptr, nullptr); });
  for (std::thread& thread : threads) thread.join();
  for (const Multiplication& call : calls) call.expect_right();
}

TEST(Session, ATopologyComesFromAFileAnObjectOrTheEnvironment) {
  const std::string file = TILERAIL_SOURCE_DIR "/topologies/hgx-h200.toml";
  ContextOptions options;
  EXPECT_EQ(fake_session(std::make_shared<Log>(), options)->topology_name(), "two-gpu") << "the hardware's own";
  options.topology = file;
  EXPECT_EQ(fake_session(std::make_shared<Log>(), options)->topology_name(), "hgx-h200");
  options.machine = std::make_shared<Topology>(test::FakeHardware::machine());
  EXPECT_EQ(fake_session(std::make_shared<Log>(), options)->topology_name(), "two-gpu");
  setenv("TILERAIL_TOPOLOGY", file.c_str(), 1);
  EXPECT_EQ(fake_session(std::make_shared<Log>())->topology_name(), "hgx-h200");
  setenv("TILERAIL_TOPOLOGY", "karolina-hgx-a100", 1),
      setenv("TILERAIL_TOPOLOGIES", TILERAIL_SOURCE_DIR "/topologies", 1);
  EXPECT_EQ(fake_session(std::make_shared<Log>())->topology_name(), "karolina-hgx-a100");
  unsetenv("TILERAIL_TOPOLOGY"), unsetenv("TILERAIL_TOPOLOGIES");
  options.machine.reset();
  options.topology = "no-such-machine";
  EXPECT_THROW(fake_session(std::make_shared<Log>(), options), InputError);
}

}  // namespace
}  // namespace tilerail::api
