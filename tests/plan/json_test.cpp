#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "plan/describe.hpp"
#include "plan/validate.hpp"
#include "sched/emulation/presets.hpp"
#include "sched/scheduler.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"
#include "tests/support/plan_draft.hpp"
#include "tests/support/plan_text.hpp"

namespace tilerail::testing {
namespace {

using nlohmann::json;

class PlanJson : public ::testing::Test {
 protected:
  Topology machine = shipped("two-gpu");
  Plan plan = [this] {
    GemmProblem p = cube(600);
    p.trans_a = Trans::yes;
    p.beta = 0.1;  // inexact in decimal: must be restored bit by bit
    Policy policy = any_preset("gemmex");
    policy.choices.tile = 256;
    return plan_gemm(p, machine, machine.gpus(), policy);
  }();

  /// Expects that reading the plan fails after `change`, with the original hash.
  template <class Change>
  void expect_refused(Change change, std::initializer_list<std::string> words) {
    json j = json::parse(to_json(plan));
    change(j);
    expect_input_error([&] { plan_from_json(j.dump(), "plan.json"); }, words);
  }
};

TEST_F(PlanJson, SurvivesWritingAndReading) {
  const Plan again = plan_from_json(to_json(plan), "plan.json");
  EXPECT_EQ(to_json(again), to_json(plan));
  EXPECT_EQ(content_hash(again), content_hash(plan));
  EXPECT_EQ(again.gemm().beta, 0.1);
}

TEST_F(PlanJson, EveryRoutineReadsBack) {
  for (const GemmProblem& p :
       {gemv_problem(300, 200, Trans::yes), dot_problem(1000), axpy_problem(1000)}) {
    const Plan vectors = plan_gemm(p, machine, machine.gpus(), any_preset("tilerail"));
    const Plan again = plan_from_json(to_json(vectors), "plan.json");
    EXPECT_EQ(again.gemm().routine, p.routine);
    EXPECT_EQ(to_json(again), to_json(vectors));
  }
}

TEST_F(PlanJson, TheGivenMemoriesAreOptional) {
  json j = json::parse(to_json(plan));
  j["origin"].erase("given");
  EXPECT_TRUE(plan_from_json(j.dump(), "plan.json").origin.given.empty());
  expect_refused(
      [](json& other) {
        other["origin"]["given"] = {1, 99};
      },
      {"plan.json", "memory 99"});
}

TEST_F(PlanJson, EveryChangeOfContentChangesTheHash) {
  const std::string before = content_hash(plan);
  Plan other = plan;
  operand(other, 3).row += 1;
  EXPECT_NE(content_hash(other), before);
  other = plan;
  other.deps.back() = OpId{0};
  EXPECT_NE(content_hash(other), before);
  other = plan;
  std::swap(other.queues[0], other.queues[1]);
  EXPECT_NE(content_hash(other), before);
  other = plan;
  other.single_issuer = !other.single_issuer;
  EXPECT_NE(content_hash(other), before);
}

TEST_F(PlanJson, AGraphStaysAGraphAndHasAnotherHash) {
  Plan graph = plan;
  graph.graph = !plan.graph;
  EXPECT_NE(content_hash(graph), content_hash(plan));
  EXPECT_EQ(plan_from_json(to_json(graph), "plan.json").graph, graph.graph);
  EXPECT_EQ(plan_from_json(to_json(plan), "plan.json").graph, plan.graph);
}

TEST_F(PlanJson, AWarmPlanStaysWarmAndHasAnotherHash) {
  Plan warm = plan;
  warm.warm = true;
  EXPECT_NE(content_hash(warm), content_hash(plan));
  EXPECT_TRUE(plan_from_json(to_json(warm), "plan.json").warm);
  EXPECT_FALSE(plan_from_json(to_json(plan), "plan.json").warm);
}

TEST_F(PlanJson, CostsOfARunTimeSystemAreKeptAndHashed) {
  Plan other = plan;
  other.runtime = {};
  EXPECT_EQ(to_json(other).find("\"runtime\""), std::string::npos);
  other.runtime = {Seconds{80e-6}, Seconds{7e-6}, Seconds{9e-6}, Seconds{0.3e-3}};
  EXPECT_NE(content_hash(other), content_hash(plan));
  EXPECT_EQ(plan_from_json(to_json(other), "plan.json").runtime, other.runtime);
  other.runtime.duplex = true;
  EXPECT_EQ(plan_from_json(to_json(other), "plan.json").runtime, other.runtime);
  const auto with = [](const char* key, const json& value) {
    return [key, value](json& j) {
      j["runtime"] = {{"task_s", 0}, {"request_s", 0}, {"peer_s", 0}, {"call_s", 0}},
      j["runtime"][key] = value;
    };
  };
  expect_refused(with("task_s", -1e-6), {"/runtime/task_s", "-1e-06", "from 0 to 10000"});
  expect_refused(with("call_s", 1e307), {"/runtime/call_s", "1e+307", "from 0 to 10000"});
  expect_refused(
      [](json& j) {
        j["runtime"] = {{"task_s", 0}};
      },
      {"/runtime/request_s", "missing"});
}

// Timelines of equivalent plans are comparable, whatever their origin.
TEST_F(PlanJson, TheOriginIsNotHashed) {
  Plan other = plan;
  other.origin.decisions.push_back({"routing", "eta"});
  other.origin.candidates.assign(5, {"tile=1", 1.5, Evaluator::estimate});
  other.origin.reasons = {{PlanReason::too_little_gain, 3, 5, 4},
                          {PlanReason::outdated, 0, 0, 0, "plans.toml", "0.1.0"}};
  EXPECT_EQ(content_hash(other), content_hash(plan));
  const Plan again = plan_from_json(to_json(other), "plan.json");
  EXPECT_EQ(to_json(again), to_json(other));
  const PlanReason &first = again.origin.reasons.at(0),
                   &last = again.origin.reasons.at(1);
  EXPECT_EQ(first.kind, PlanReason::too_little_gain);
  EXPECT_EQ(std::tuple(first.chosen, first.count, first.rival), std::tuple(3U, 5U, 4U));
  EXPECT_EQ(last.kind, PlanReason::outdated);
  EXPECT_EQ(last.name, "plans.toml");
  EXPECT_EQ(last.owner, "0.1.0");
}

TEST_F(PlanJson, OlderFilesHaveNoReasons) {
  json older = json::parse(to_json(plan));
  older["origin"].erase("reasons");
  older["origin"]["why"] = "the only candidate";
  const Plan again = plan_from_json(older.dump(), "plan.json");
  EXPECT_TRUE(again.origin.reasons.empty());
  EXPECT_EQ(reason_text(again.origin), "");
}

TEST_F(PlanJson, TamperedPlansAreRefused) {
  expect_refused([](json& j) { j["problem"]["alpha"] = 7; },
                 {"plan.json", "/hash", "changed"});
}

TEST_F(PlanJson, BadFieldsAreNamedWithPathAndValue) {
  expect_refused([](json& j) { j["schema"] = 4; }, {"plan.json", "/schema", "'4'"});
  expect_refused([](json& j) { j["schema"] = 2; },
                 {"plan.json: /schema: '2' is the schema of plans without layouts",
                  "expected 3: a new plan"});
  expect_refused([](json& j) { j.erase("ops"); }, {"/ops", "missing"});
  expect_refused([](json& j) { j["ops"][5]["op"] = "gem"; },
                 {"/ops/5/op", "gem", "gemm"});
  expect_refused([](json& j) { j["ops"][5]["queue"] = 1.5; },
                 {"/ops/5/queue", "1.5", "integer"});
  expect_refused([](json& j) { j["ops"][0]["a"][3] = -1; }, {"/ops/0/a/3", "-1"});
  expect_refused([](json& j) { j["ops"][0]["a"].erase(0); }, {"/ops/0/a", "array of 5"});
  expect_refused([](json& j) { j["problem"]["dtype"] = "f128"; },
                 {"/problem/dtype", "f128"});
  expect_refused([](json& j) { j["problem"]["routine"] = "trsm"; },
                 {"/problem/routine", "trsm"});
  expect_refused([](json& j) { j["problem"]["routine"] = "gemv"; },
                 {"plan.json", "gemv", "expected n = 1"});
  expect_refused([](json& j) { j["problem"]["m"] = "many"; }, {"/problem/m", "many"});
  expect_refused([](json& j) { j["problem"]["alpha"] = nullptr; },
                 {"/problem/alpha", "finite"});
  expect_refused([](json& j) { j["queues"][0][0] = "print"; },
                 {"/queues/0/0", "compute"});
  expect_refused(
      [](json& j) {
        j["origin"]["reasons"] = {{"luck", 0, 0, 0, "", ""}};
      },
      {"/origin/reasons/0/0", "luck", "too-little-gain"});
  for (const auto& [reason, place] :
       {std::pair{json{"fastest", 2, 2, 0, "", ""}, "/origin/reasons/0/1: '2'"},
        std::pair{json{"tuned", 9, 2, 0, "", ""}, "/origin/reasons/0/1: '9'"},
        std::pair{json{"too-little-gain", 0, 2, 2, "", ""}, "/origin/reasons/0/3: '2'"}})
    expect_refused(
        [&, &one = reason](json& j) {
          j["origin"]["candidates"] = {{"A", 1, "estimate"}, {"B", 1, "estimate"}};
          j["origin"]["reasons"] = json::array({one});
        },
        {place, "is not the index of a candidate"});
  expect_refused([](json& j) { j["single_issuer"] = 1; },
                 {"/single_issuer", "true or false"});
  expect_refused([](json& j) { j["buffers"][0][0] = "D"; },
                 {"/buffers/0/0", "name of a tensor"});
  expect_refused([](json& j) { j["buffers"][0][2] = 99; }, {"buffer 0", "memory"});
  expect_input_error([] { plan_from_json("{\"schema\": 1,", "plan.json"); },
                     {"plan.json:1:14: not JSON: syntax error"});
  expect_input_error([] { plan_from_json("[]", "plan.json"); }, {"plan.json", "object"});
}

TEST_F(PlanJson, DuplicateKeysAreRefused) {
  const auto refuse = [&](const std::string& key, const std::string& twice,
                          const char* place) {
    std::string text = to_json(plan);
    text.replace(text.find(key), key.size(), twice);
    expect_input_error([&] { plan_from_json(text, "plan.json"); },
                       {"plan.json", place, "twice; expected it once"});
  };
  refuse("\"tile\":", "\"tile\":7,\"tile\":", "/tile:");
  refuse("\"op\":\"gemm\",", "\"op\":\"gemm\",\"op\":\"gemm\",", "/op:");
  refuse("\"m\":", "\"m\":1,\"m\":", "/problem/m:");
}

TEST_F(PlanJson, BadStructureIsNamedByOperation) {
  const auto refuse = [&](auto change, std::initializer_list<std::string> words) {
    Plan broken = plan;
    change(broken);
    expect_input_error([&] { validate(broken); }, words);
  };
  const auto first = [&](OpKind kind) {
    size_t i = 0;
    while (plan.ops[i].kind != kind) ++i;
    return i;
  };
  const size_t gemm = first(OpKind::gemm), copy = first(OpKind::copy),
               add = first(OpKind::axpby);
  const auto at = [](size_t op) { return "operation " + std::to_string(op); };
  refuse([&](Plan& p) { p.deps[p.dep_begin[gemm]] = OpId{gemm}; },
         {at(gemm), "not before it"});
  refuse([&](Plan& p) { operand(p, gemm).rows += 1; }, {at(gemm), "outside its buffer"});
  refuse([&](Plan& p) { operand(p, gemm, 1).cols -= 1; }, {at(gemm), "shapes"});
  refuse([&](Plan& p) { p.ops[gemm].queue = p.ops[copy].queue; },
         {at(gemm), "compute queue"});
  refuse([&](Plan& p) { p.ops[copy].queue = p.ops[gemm].queue; },
         {at(copy), "copy queue"});
  refuse([&](Plan& p) { operand(p, copy).cols -= 1; }, {at(copy), "different shapes"});
  refuse([&](Plan& p) { operand(p, add, 0).rows -= 1; }, {at(add), "different shapes"});
  refuse([&](Plan& p) { operand(p, add, 0).buffer = BufferId{4000}; },
         {at(add), "buffer 4000"});
  const auto back =
      size_t(std::ranges::find_if(plan.ops,
                                  [&](const Op& op) {
                                    return op.kind == OpKind::copy &&
                                           !plan.buffer(plan.result(op).buffer).in_arena;
                                  }) -
             plan.ops.begin());
  refuse([&](Plan& p) { operand(p, back).buffer = BufferId{0}; },
         {at(back), "writes to A, which is only read"});
  refuse([&](Plan& p) { p.peak_bytes[1] = 100; }, {"buffer", "outside the stated peak"});
  refuse([&](Plan& p) { p.buffers[0].ld -= 1; }, {"buffer 0", "ld"});
}

/// Executors have kernels for a single type, and for sums of halves in f32.
TEST_F(PlanJson, OperandsHaveTheTypeOfTheProblem) {
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    for (size_t j = 0; j < plan.operands_of(op).size(); ++j) {
      const size_t buffer = plan.operands_of(op)[j].buffer.index();
      if ((!reads(op, j) && !writes(op.kind, j)) || !plan.buffers[buffer].in_arena)
        continue;
      Plan other = plan;
      other.buffers.push_back(plan.buffers[buffer]);
      other.buffers.back().dtype = DType::f32;
      operand(other, i, j).buffer = BufferId{plan.buffers.size()};
      expect_input_error([&] { validate(other); },
                         {"operation " + std::to_string(i) + ":",
                          fmt::format("buffer {} has type f32", plan.buffers.size()),
                          "expected f64, the type of the problem"});
    }
  }
  Plan all = plan;
  for (Buffer& buffer : all.buffers)
    if (buffer.in_arena) buffer.dtype = DType::bf16;
  expect_input_error([&] { validate(all); }, {"operation 0", "bf16", "expected f64"});
}

TEST_F(PlanJson, SumsOfHalvesAreCopiedAddedAndRounded) {
  GemmProblem p = cube(64);
  p.dtype = DType::f16;
  const MemoryId gpu = machine.gpus()[0];
  const auto draft_of = [&](OpKind kind, const std::vector<int>& sums) {
    PlanDraft draft{machine, p};
    Operands operands;
    for (size_t i = 0; i < info(kind).operands.size(); ++i) {
      const bool is_sum = std::ranges::count(sums, int(i)) > 0;
      operands.push_back(draft.tile(gpu, 64, is_sum ? 128 : 64));
      operands.back().cols = 64;
      if (!is_sum) continue;
      draft.plan.buffers.back().cols = 64;
      draft.plan.buffers.back().dtype = DType::f32;
    }
    const QueueId queue =
        kind == OpKind::copy ? draft.copy_queue(gpu, gpu) : draft.compute_queue(gpu);
    draft.add({.kind = kind, .beta = Scalar::one, .queue = queue}, operands);
    return draft.plan;
  };
  for (const auto& [kind, sums] :
       std::vector<std::pair<OpKind, std::vector<int>>>{{OpKind::gemm, {2}},
                                                        {OpKind::axpby, {0}},
                                                        {OpKind::axpby, {0, 1}},
                                                        {OpKind::copy, {0, 1}}})
    validate(draft_of(kind, sums));
  for (const auto& [kind, sums] :
       std::vector<std::pair<OpKind, std::vector<int>>>{{OpKind::gemm, {0}},
                                                        {OpKind::gemm, {0, 1, 2}},
                                                        {OpKind::axpby, {1}},
                                                        {OpKind::copy, {0}},
                                                        {OpKind::copy, {1}}})
    expect_input_error([&, &op = kind, &of = sums] { validate(draft_of(op, of)); },
                       {"operation 0", "its views have different types"});
}

TEST_F(PlanJson, AnOperandThatIsNotReadLiesInABuffer) {
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    if (plan.ops[i].kind != OpKind::axpby) continue;
    Plan other = plan;
    other.ops[i].alpha = Scalar::zero, operand(other, i, 0).buffer = BufferId{4000};
    expect_input_error([&] { validate(other); },
                       {"operation " + std::to_string(i) + ":", "buffer 4000"});
    return;
  }
  FAIL() << "the plan has no axpby";
}

/// Simulations do not require this: they only model time, and plans of tests may use one
/// address for everything.
TEST_F(PlanJson, OperationsOfARunDoNotWriteTheirInputs) {
  for (const OpKind kind : {OpKind::gemm, OpKind::copy}) {
    Plan other = plan;
    for (size_t i = 0; i < plan.ops.size(); ++i) {
      Op& op = other.ops[i];
      if (op.kind != kind) continue;
      operand(other, i, 0);  // no longer shared
      View &y = operand(other, i), &a = other.views[other.operands[op.first]];
      const Buffer &from = plan.buffer(a.buffer), &to = plan.buffer(y.buffer);
      if (kind == OpKind::copy && from.in_arena) continue;
      if (kind == OpKind::gemm) {
        other.buffers.push_back(to);
        other.buffers.back().offset = from.offset + 8;
        y.buffer = BufferId{plan.buffers.size()};
        other.peak_bytes[to.memory.index()] *= 2;
      } else {
        a = y, op.queue = QueueId{plan.queues.size()};
        other.queues.push_back({Queue::Kind::copy, to.memory, to.memory, 0});
      }
      validate(other);
      expect_input_error(
          [&] { require_kernels(other); },
          {"operation " + std::to_string(i) + ":", "writes elements that it reads"});
      break;
    }
  }
  EXPECT_NO_THROW(require_kernels(plan));
}

TEST_F(PlanJson, LayoutsThatCannotBeAreRefused) {
  const auto with = [](json grid, json rows, json members) {
    return [=](json& j) {
      j["problem"]["place"][0] = {
          {"grid", grid}, {"rows", rows}, {"cols", rows}, {"members", members}};
    };
  };
  expect_refused(with({2, 1, 1}, {{"block", 0}}, {0}), {"members of a layout: '1'"});
  expect_refused(with({1, 1, 1}, {{"block", 0}}, json::array()),
                 {"members of a layout: '0'"});
  const json both{{"block", 5}, {"coordinates", {0, 1}}, {"borders", {9}}};
  expect_refused(with({2, 1, 1}, both, {0, 1}),
                 {"rows/block: '5'", "is not 0 where coordinates are given"});
  expect_refused(with({2, 1, 1}, {{"block", 0}}, {0, 99}),
                 {"memory 99: expected one of the plan's"});
  expect_refused(
      [&](json& j) {
        with({2, 2, 1}, {{"block", 1}}, {0, 1, 0, 1})(j);
        j["problem"]["m"] = j["problem"]["ld"][2] = 1 << 20;
      },
      {"the layout of A has more than 100000 blocks"});
}

/// The buffers of a plan on fewer GPUs are fewer replicas.
TEST_F(PlanJson, ReplicasLieOnThePlansGpus) {
  GemmProblem p = plan.gemm();
  p.place_a = Layout::replicated(machine.gpus());
  Policy policy = any_preset("gemmex");
  policy.choices.tile = 256;
  const Plan kept = plan_gemm(p, machine, machine.gpus(), policy);
  EXPECT_NO_THROW(validate(kept, machine));
  EXPECT_EQ(to_json(plan_from_json(to_json(kept), "plan.json")), to_json(kept));
  Plan others = kept;
  others.devices.pop_back(), others.origin.given.clear();
  expect_input_error([&] { validate(others, machine); }, {"plan: "});
}

TEST_F(PlanJson, PlansOfOtherMachinesAreRefused) {
  const Topology other = shipped("pcie-tree-8");
  expect_input_error([&] { require_fit(plan, other); }, {"two-gpu", "pcie-tree-8"});
  expect_input_error([&] { validate(plan, other); }, {"two-gpu", "pcie-tree-8"});
}

}  // namespace
}  // namespace tilerail::testing
