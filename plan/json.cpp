#include "plan/json.hpp"

#include <fmt/format.h>

#include <array>
#include <boost/container/static_vector.hpp>
#include <span>
#include <string>
#include <string_view>

#include "model/base/error.hpp"
#include "model/base/json_reader.hpp"
#include "plan/validate.hpp"

namespace tilerail {
namespace {

constexpr int schema = 2;  // 1 had values for coefficients, and one element type
constexpr std::array<std::string_view, 4> scalar_names = {"zero", "one", "alpha", "beta"};
constexpr std::array<std::string_view, 4> buffer_names = {"A", "B", "C", "tile"};
constexpr std::array<std::string_view, 2> queue_names = {"compute", "copy"};

Json view_json(const View& v) { return Json::array({v.buffer.value, v.row, v.col, v.rows, v.cols}); }

Json problem_json(const GemmProblem& p) {
  return {{"routine", to_string(p.routine)},
          {"m", p.m},
          {"n", p.n},
          {"k", p.k},
          {"dtype", to_string(p.dtype)},
          {"transa", to_string(p.trans_a)},
          {"transb", to_string(p.trans_b)},
          {"alpha", p.alpha},
          {"beta", p.beta},
          {"place", {p.place_a.value, p.place_b.value, p.place_c.value}},
          {"ld", {p.lda, p.ldb, p.ldc}}};
}

std::string_view name_of(Scalar scalar) { return scalar_names[static_cast<std::size_t>(scalar)]; }
Scalar read_scalar(const JsonReader& r) { return static_cast<Scalar>(r.one_of(scalar_names)); }

Json op_json(const Plan& plan, std::size_t i) {
  const Op& op = plan.ops[i];
  const OpKindInfo& kind = info(op.kind);
  Json j = {{"op", kind.name}, {"queue", op.queue.value}};
  if (kind.a != Access::none) j["a"] = view_json(op.a);
  if (kind.b != Access::none) j["b"] = view_json(op.b);
  if (kind.has_trans) j["trans"] = std::string{to_string(op.trans_a)} + std::string{to_string(op.trans_b)};
  if (kind.y != Access::none) j["y"] = view_json(op.y);
  if (kind.has_scalars) j["alpha"] = name_of(op.alpha), j["beta"] = name_of(op.beta);
  Json deps = Json::array();
  for (const OpId dep : plan.deps_of(OpId{i})) deps.push_back(dep.value);
  if (!deps.empty()) j["deps"] = std::move(deps);
  return j;
}

View read_view(const JsonReader& r) {
  r.sized(5);
  return {BufferId{r.entry(0).index()}, r.entry(1).extent(), r.entry(2).extent(), r.entry(3).extent(),
          r.entry(4).extent()};
}

Json origin_json(const PlanOrigin& origin) {
  Json j = {{"decisions", Json::array()}, {"judge", origin.judge}, {"candidates", Json::array()}, {"why", origin.why}};
  for (const PlanDecision& decision : origin.decisions) j["decisions"].push_back({decision.key, decision.value});
  for (const PlanCandidate& candidate : origin.candidates)
    j["candidates"].push_back({candidate.what, candidate.seconds, candidate.judge});
  j["without_effect"] = origin.without_effect;
  j["given"] = Json::array();
  for (const MemoryId gpu : origin.given) j["given"].push_back(gpu.value);
  return j;
}

PlanOrigin read_origin(const JsonReader& r) {
  r.only({"decisions", "judge", "candidates", "why", "without_effect", "given"});
  PlanOrigin origin;
  const JsonReader decisions = r.at("decisions"), candidates = r.at("candidates"), wishes = r.at("without_effect");
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const JsonReader entry = decisions.entry(i).sized(2);
    origin.decisions.push_back({entry.entry(0).text(), entry.entry(1).text()});
  }
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const JsonReader entry = candidates.entry(i).sized(3);
    origin.candidates.push_back({entry.entry(0).text(), entry.entry(1).real(), entry.entry(2).text()});
  }
  for (std::size_t i = 0; i < wishes.size(); ++i) origin.without_effect.push_back(wishes.entry(i).text());
  origin.judge = r.at("judge").text(), origin.why = r.at("why").text();
  if (r.has("given")) {
    const JsonReader given = r.at("given");
    for (std::size_t i = 0; i < given.size(); ++i) origin.given.push_back(MemoryId{given.entry(i).index()});
  }
  return origin;
}

GemmProblem read_problem(const JsonReader& r) {
  r.only({"routine", "m", "n", "k", "dtype", "transa", "transb", "alpha", "beta", "place", "ld"});
  GemmProblem p;
  if (r.has("routine")) p.routine = routine_from_string(r.at("routine").text(), r.at("routine").where());
  p.m = r.at("m").extent(), p.n = r.at("n").extent(), p.k = r.at("k").extent();
  p.dtype = dtype_from_string(r.at("dtype").text(), r.at("dtype").where());
  p.trans_a = trans_from_string(r.at("transa").text(), r.at("transa").where());
  p.trans_b = trans_from_string(r.at("transb").text(), r.at("transb").where());
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
    for (const OpKind kind : all_op_kinds()) all[static_cast<std::size_t>(kind)] = to_string(kind);
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
    const std::string trans = both.text();
    if (trans.size() != 2) both.fail("two letters, each N or T");
    op.trans_a = trans_from_string(trans.substr(0, 1), both.where());
    op.trans_b = trans_from_string(trans.substr(1, 1), both.where());
  }
  r.only(std::span{known.data(), known.size()});
  return op;
}

void read_ops(const JsonReader& ops, Plan& plan) {
  plan.ops.reserve(ops.size());
  plan.dep_begin.assign(1, 0);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const JsonReader r = ops.entry(i);
    plan.ops.push_back(read_op(r));
    if (r.has("deps")) {
      const JsonReader deps = r.at("deps");
      for (std::size_t d = 0; d < deps.size(); ++d) plan.deps.push_back(OpId{deps.entry(d).index()});
    }
    plan.dep_begin.push_back(static_cast<std::uint32_t>(plan.deps.size()));
  }
}

void read_tables(const JsonReader& root, Plan& plan) {
  const JsonReader memories = root.at("memories"), peaks = root.at("peak_bytes"), devices = root.at("devices");
  for (std::size_t i = 0; i < memories.size(); ++i) plan.memories.push_back(memories.entry(i).text());
  for (std::size_t i = 0; i < peaks.size(); ++i) plan.peak_bytes.push_back(peaks.entry(i).integer(0, INT64_MAX));
  for (std::size_t i = 0; i < devices.size(); ++i) plan.devices.push_back(MemoryId{devices.entry(i).index()});
  const JsonReader queues = root.at("queues"), buffers = root.at("buffers");
  for (std::size_t i = 0; i < queues.size(); ++i) {
    const JsonReader q = queues.entry(i).sized(4);
    plan.queues.push_back({static_cast<Queue::Kind>(q.entry(0).one_of(queue_names)), MemoryId{q.entry(1).index()},
                           MemoryId{q.entry(2).index()}, q.entry(3).index()});
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const JsonReader b = buffers.entry(i).sized(7);
    plan.buffers.push_back({static_cast<Buffer::Kind>(b.entry(0).one_of(buffer_names)), MemoryId{b.entry(1).index()},
                            b.entry(2).extent(), b.entry(3).extent(), b.entry(4).extent(),
                            b.entry(5).integer(0, INT64_MAX),
                            dtype_from_string(b.entry(6).text(), b.entry(6).where())});
  }
}

}  // namespace

std::string to_json(const Plan& plan) {
  Json j = {{"schema", schema},
            {"hash", content_hash(plan)},
            {"problem", problem_json(plan.problem)},
            {"machine", plan.machine},
            {"policy", plan.policy},
            {"tile", plan.tile},
            {"single_issuer", plan.single_issuer},
            {"memories", plan.memories},
            {"peak_bytes", plan.peak_bytes}};
  j["origin"] = origin_json(plan.origin);
  j["devices"] = Json::array();
  for (const MemoryId device : plan.devices) j["devices"].push_back(device.value);
  j["queues"] = Json::array();
  for (const Queue& q : plan.queues)
    j["queues"].push_back({queue_names[static_cast<std::size_t>(q.kind)], q.src.value, q.dst.value, q.index});
  j["buffers"] = Json::array();
  for (const Buffer& b : plan.buffers)
    j["buffers"].push_back({buffer_names[static_cast<std::size_t>(b.kind)], b.memory.value, b.rows, b.cols, b.ld,
                            b.offset, to_string(b.dtype)});
  j["ops"] = Json::array();
  for (std::size_t i = 0; i < plan.ops.size(); ++i) j["ops"].push_back(op_json(plan, i));
  return j.dump();
}

Plan plan_from_json(const std::string& json, const std::string& file) {
  const Json j = parse_json(json, file);
  const JsonReader root{j, file, ""};
  root.only({"schema", "hash", "problem", "machine", "policy", "tile", "single_issuer", "memories", "peak_bytes",
             "devices", "queues", "buffers", "ops", "origin"});
  root.at("schema").integer(schema, schema);
  Plan plan;
  plan.problem = read_problem(root.at("problem"));
  plan.machine = root.at("machine").text();
  plan.policy = root.at("policy").text();
  plan.tile = root.at("tile").extent();
  plan.single_issuer = root.at("single_issuer").boolean();
  plan.origin = read_origin(root.at("origin"));
  read_tables(root, plan);
  read_ops(root.at("ops"), plan);
  try {
    validate(plan);
  } catch (const InputError& error) {
    throw InputError{fmt::format("{}: {}", file, error.what())};
  }
  const std::string stated = root.at("hash").text(), found = content_hash(plan);
  if (stated != found)
    throw InputError{
        fmt::format("{}: /hash: '{}' is not the hash of the contents, '{}': the plan was changed after it was written",
                    file, stated, found)};
  return plan;
}

}  // namespace tilerail
