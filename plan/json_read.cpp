#include "plan/json.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/container/static_vector.hpp>
#include <span>
#include <string>
#include <string_view>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/json_parser.hpp"
#include "plan/json_names.hpp"
#include "plan/validate.hpp"

namespace tilerail {
namespace {

using namespace plan_file;

Scalar read_scalar(const JsonReader& r) { return static_cast<Scalar>(r.one_of(scalar_names)); }

View read_view(const JsonReader& r) {
  r.sized(5);
  return {BufferId{r.entry(0).index()}, r.entry(1).extent(), r.entry(2).extent(), r.entry(3).extent(),
          r.entry(4).extent()};
}

PlanOrigin read_origin(const JsonReader& r) {
  r.only({"decisions", "judge", "candidates", "why", "without_effect", "given"});
  PlanOrigin origin;
  const JsonReader decisions = r.at("decisions"), candidates = r.at("candidates"), wishes = r.at("without_effect");
  for (size_t i = 0; i < decisions.size(); ++i) {
    const JsonReader entry = decisions.entry(i).sized(2);
    origin.decisions.push_back({entry.entry(0).text(), entry.entry(1).text()});
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    const JsonReader entry = candidates.entry(i).sized(3);
    origin.candidates.push_back({entry.entry(0).text(), entry.entry(1).real(), entry.entry(2).text()});
  }
  for (const auto i : indices(wishes)) origin.without_effect.push_back(wishes.entry(i).text());
  origin.judge = r.at("judge").text(), origin.why = r.at("why").text();
  if (r.has("given")) {
    const JsonReader given = r.at("given");
    for (size_t i = 0; i < given.size(); ++i) origin.given.push_back(MemoryId{given.entry(i).index()});
  }
  return origin;
}

GemmProblem read_problem(const JsonReader& r) {
  r.only({"routine", "m", "n", "k", "dtype", "transa", "transb", "alpha", "beta", "place", "ld"});
  GemmProblem p;
  if (r.has("routine")) p.routine = r.at("routine").parsed(routine_from_string);
  p.m = r.at("m").extent(), p.n = r.at("n").extent(), p.k = r.at("k").extent();
  p.dtype = r.at("dtype").parsed(dtype_from_string);
  const auto trans = [](std::string_view text) { return trans_from_string(text); };
  p.trans_a = r.at("transa").parsed(trans), p.trans_b = r.at("transb").parsed(trans);
  p.alpha = r.at("alpha").real(), p.beta = r.at("beta").real();
  const JsonReader place = r.at("place").sized(3), ld = r.at("ld").sized(3);
  p.place_a = MemoryId{place.entry(0).index()};
  p.place_b = MemoryId{place.entry(1).index()};
  p.place_c = MemoryId{place.entry(2).index()};
  p.lda = ld.entry(0).extent(), p.ldb = ld.entry(1).extent(), p.ldc = ld.entry(2).extent();
  return p;
}

const auto& op_names() {
  static const auto names = [] {
    std::array<std::string_view, op_kind_count> all;
    for (const OpKind kind : all_op_kinds()) all[size_t(kind)] = to_string(kind);
    return all;
  }();
  return names;
}

Op read_op(const JsonReader& r) {
  Op op;
  op.kind = static_cast<OpKind>(r.at("op").one_of(op_names()));
  op.queue = QueueId{r.at("queue").index()};
  boost::container::static_vector<std::string_view, 9> known{"op", "queue", "deps"};
  const auto field = [&](const char* key) {
    known.push_back(key);
    return r.at(key);
  };
  const OpKindInfo& kind = info(op.kind);
  if (kind.a != Access::none) op.a = read_view(field("a"));
  if (kind.b != Access::none) op.b = read_view(field("b"));
  if (kind.y != Access::none) op.y = read_view(field("y"));
  if (kind.has_scalars) op.alpha = read_scalar(field("alpha")), op.beta = read_scalar(field("beta"));
  if (kind.has_trans) {
    const JsonReader both = field("trans");
    if (both.text().size() != 2) both.fail("two letters, each N or T");
    const auto letter = [&](size_t i) {
      return both.parsed([i](std::string_view text) { return trans_from_string(text.substr(i, 1)); });
    };
    op.trans_a = letter(0), op.trans_b = letter(1);
  }
  r.only(std::span{known.data(), known.size()});
  return op;
}

void add_op(const JsonReader& r, Plan& plan) {
  plan.ops.push_back(read_op(r));
  if (r.has("deps")) {
    const JsonReader deps = r.at("deps");
    for (size_t d = 0; d < deps.size(); ++d) plan.deps.push_back(OpId{deps.entry(d).index()});
  }
  plan.dep_begin.push_back(uint32_t(plan.deps.size()));
}

void add_buffer(const JsonReader& r, Plan& plan) {
  const JsonReader b = r.sized(7);
  plan.buffers.push_back({static_cast<Buffer::Kind>(b.entry(0).one_of(buffer_names)), MemoryId{b.entry(1).index()},
                          b.entry(2).extent(), b.entry(3).extent(), b.entry(4).extent(),
                          b.entry(5).integer(0, INT64_MAX), b.entry(6).parsed(dtype_from_string)});
}

RuntimeCosts read_runtime(const JsonReader& r) {
  r.only({"task_s", "request_s", "peer_s", "call_s", "duplex"});
  constexpr double most = 1e4;  // s: more than a policy can ask for, of as many GPUs as there can be
  const auto cost = [&](const char* key) { return Seconds{r.at(key).not_negative(most)}; };
  return {cost("task_s"), cost("request_s"), cost("peer_s"), cost("call_s"), r.at("duplex").boolean()};
}

void read_header(const JsonReader& root, Plan& plan) {
  root.only({"schema", "hash", "problem", "machine", "policy", "tile", "single_issuer", "memories", "peak_bytes",
             "graph", "warm", "runtime", "devices", "queues", "buffers", "ops", "origin"});
  root.at("schema").integer(schema, schema);
  plan.problem = read_problem(root.at("problem"));
  plan.machine = root.at("machine").text();
  plan.policy = root.at("policy").text();
  plan.tile = root.at("tile").extent();
  plan.single_issuer = root.at("single_issuer").boolean();
  if (root.has("graph")) plan.graph = root.at("graph").boolean();
  if (root.has("warm")) plan.warm = root.at("warm").boolean();
  if (root.has("runtime")) plan.runtime = read_runtime(root.at("runtime"));
  plan.origin = read_origin(root.at("origin"));
}

void read_tables(const JsonReader& root, Plan& plan) {
  const JsonReader memories = root.at("memories"), peaks = root.at("peak_bytes"), devices = root.at("devices");
  for (size_t i = 0; i < memories.size(); ++i) plan.memories.push_back(memories.entry(i).text());
  for (const auto i : indices(peaks)) plan.peak_bytes.push_back(peaks.entry(i).integer(0, INT64_MAX));
  for (size_t i = 0; i < devices.size(); ++i) plan.devices.push_back(MemoryId{devices.entry(i).index()});
  const JsonReader queues = root.at("queues");
  for (size_t i = 0; i < queues.size(); ++i) {
    const JsonReader q = queues.entry(i).sized(4);
    plan.queues.push_back({static_cast<Queue::Kind>(q.entry(0).one_of(queue_names)), MemoryId{q.entry(1).index()},
                           MemoryId{q.entry(2).index()}, q.entry(3).index()});
  }
}

/// What is wrong with entries that were streamed is said when all before it is right, as if they were read here.
void check_streamed(const JsonReader& root, std::span<const JsonEntries> streamed) {
  for (const JsonEntries& each : streamed) {
    root.at(each.key.c_str()).size();
    each.check();
  }
}

void check_plan(const Plan& plan, const JsonReader& root, const std::string& file) {
  try {
    validate(plan);
  } catch (const InputError& error) {
    throw error.at(file);
  }
  const std::string stated = root.at("hash").text(), found = content_hash(plan);
  if (stated != found)
    throw InputError{"", stated, "is not the hash of the contents: the plan was changed after it was written", found,
                     fmt::format("{}: /hash", file)};
}

template <class Text>
Plan read_plan(Text&& json, const std::string& file) {
  Plan plan;
  plan.dep_begin.assign(1, 0);
  std::array<JsonEntries, 2> streamed{JsonEntries{"buffers", [&](const JsonReader& r) { add_buffer(r, plan); }},
                                      JsonEntries{"ops", [&](const JsonReader& r) { add_op(r, plan); }}};
  const Json j = parse_json(json, file, streamed);
  const JsonReader root{j, file, ""};
  read_header(root, plan);
  read_tables(root, plan);
  check_streamed(root, streamed);
  check_plan(plan, root, file);
  return plan;
}

}  // namespace

Plan plan_from_json(std::string_view json, const std::string& file) { return read_plan(json, file); }
Plan plan_from_json(std::istream& json, const std::string& file) { return read_plan(json, file); }

}  // namespace tilerail
