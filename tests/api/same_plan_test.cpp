// The same problem, machine and policy text give the same plan from the command, the C++
// and the C interface.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "api/handle.hpp"
#include "backends/simulator.hpp"
#include "sched/policy/fields.hpp"
#include "sched/scheduler.hpp"
#include "study/job.hpp"
#include "study/sweep/keys.hpp"
#include "tests/api/fake_hardware.hpp"
#include "tilerail/tilerail.h"

namespace tilerail::api {
namespace {

constexpr int64_t side = 256;
constexpr double alpha = 1.5, beta = 0.5;

struct Request {
  std::string policy;
  std::vector<std::string> overrides;  // in the command's order
  std::string devices = "all";
  std::vector<int> numbers = {};  // the same devices
};

const std::vector<Request> requests{
    {"tilerail", {"effort=fast"}},  // the default of programs
    {"tilerail", {"effort=fast", "devices=best(metric=edp)"}},
    {"tilerail", {"tile=64", "effort=fast", "devices=best"}},
    {"tilerail", {"tile=64", "effort=fast", "batch=chain(chunks=2)"}},
    {"tilerail", {"effort=fast", "devices=best(metric=pdp)"}},
    {"tilerail", {"effort=normal"}, "1,0", {1, 0}},
    {"tilerail", {"effort=fast", "caching=off", "overlap=off"}, "1", {1}}};

/// The plan of `tilerail plan`.
Plan by_command(const Request& request) {
  const std::string size = std::to_string(side);
  study::JobText job;
  job.problem.gemm = size, job.problem.alpha = std::to_string(alpha),
  job.problem.beta = std::to_string(beta);
  job.machine.devices = request.devices;
  job.policy.name = request.policy;
  for (const std::string& each : request.overrides) {
    const size_t equals = each.find('=');
    study::set_key(job, each.substr(0, equals), each.substr(equals + 1));
  }
  return study::plan_job(test::FakeHardware::machine(), job).plan;
}

struct Arrays {
  std::vector<double> a = std::vector<double>(side * side, 1.0), b = a, c = a;
};

Plan by_cpp(const Request& request) {
  const auto log = std::make_shared<test::Log>();
  ContextOptions options;
  options.policy = request.policy, options.overrides = request.overrides,
  options.devices = request.numbers;
  Context context{test::fake_session(log, options)};
  Arrays x;
  gemm(context, 'N', 'N', side, side, side, alpha, x.a.data(), side, x.b.data(), side,
       beta, x.c.data(), side);
  return *log->plan;
}

Plan by_c(const Request& request) {
  const auto log = std::make_shared<test::Log>();
  tilerail_context context{Context{test::fake_session(log)}};
  EXPECT_EQ(tilerail_set_policy(&context, request.policy.c_str()), TILERAIL_SUCCESS);
  for (const std::string& assignment : request.overrides)
    EXPECT_EQ(tilerail_set_override(&context, assignment.c_str()), TILERAIL_SUCCESS);
  const auto count = int(request.numbers.size());
  EXPECT_EQ(tilerail_set_devices(&context, request.numbers.data(), count),
            TILERAIL_SUCCESS);
  Arrays x;
  EXPECT_EQ(tilerail_dgemm(&context, 'N', 'N', side, side, side, alpha, x.a.data(), side,
                           x.b.data(), side, beta, x.c.data(), side),
            TILERAIL_SUCCESS);
  return *log->plan;
}

TEST(SamePlan, ComesFromTheCommandAndBothInterfaces) {
  for (const Request& request : requests) {
    const Plan plan = by_command(request);
    const std::string name = plan.policy + " on " + request.devices;
    EXPECT_EQ(content_hash(by_cpp(request)), content_hash(plan)) << name;
    EXPECT_EQ(content_hash(by_c(request)), content_hash(plan)) << name;
  }
}

/// Without this, the test above would not show whether the interfaces have the command's
/// judge.
TEST(SamePlan, DependsOnTheSimulator) {
  const Topology machine = test::FakeHardware::machine();
  if (!make_simulator(machine)) GTEST_SKIP() << "this build has no simulator";
  const Plan judged = by_command(requests[1]);
  Policy policy = preset(requests[1].policy);
  apply_override(policy, requests[1].overrides.back());
  EXPECT_NE(plan_gemm(judged.gemm(), machine, machine.gpus(), policy).devices,
            judged.devices);
}

}  // namespace
}  // namespace tilerail::api
