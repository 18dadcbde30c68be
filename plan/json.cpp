#include "plan/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "model/base/contains.hpp"
#include "model/base/indices.hpp"
#include "model/base/json_parser.hpp"
#include "plan/validate.hpp"

namespace tilerail {
namespace {

using std::string_view;

constexpr int schema = 3;  // schema 2 had neither layouts nor blocks of tensors

// Names in plan files, by enumeration value. docs/formats.md#plan
constexpr std::array<string_view, 5> scalar_names = {"zero", "one", "minus-one", "alpha",
                                                     "beta"};
constexpr std::array<string_view, 2> storage_names = {"user", "arena"};
constexpr std::array<string_view, 2> queue_names = {"compute", "copy"};
constexpr std::array<string_view, PlanReason::kinds> reason_names = {
    "only-candidate", "fastest",   "too-little-gain", "best-set", "model",
    "tuned",          "not-tuned", "other-machine",   "outdated"};
static_assert(!reason_names.back().empty());
constexpr std::array<string_view, 4> trans_names = {"NN", "NT", "TN",
                                                    "TT"};  // for A and B

}  // namespace

// Conversions of plan parts to nlohmann's Json.

template <class Tag>
static void to_json(Json& j, Id<Tag> id) {
  j = id.value;
}
static void to_json(Json& j, const PlanDecision& d) { j = {d.key, d.value}; }
static void to_json(Json& j, const PlanCandidate& c) {
  j = {c.what, c.seconds, to_string(c.evaluator)};
}
static void to_json(Json& j, const PlanReason& r) {
  j = {reason_names[size_t(r.kind)], r.chosen, r.count, r.rival, r.name, r.owner};
}
static void to_json(Json& j, const Queue& q) {
  j = {queue_names[size_t(q.kind)], q.src, q.dst, q.index};
}
static void to_json(Json& j, const LayoutCuts& cuts) {
  j = {{"block", cuts.block}};
  if (!cuts.coordinates.empty())
    j["borders"] = cuts.borders, j["coordinates"] = cuts.coordinates;
}
static void to_json(Json& j, const Layout& layout) {
  const LayoutGrid grid = layout.grid();
  if (layout.is_whole())
    j = layout.home();
  else
    j = {{"grid", {grid.rows, grid.cols, grid.replicas}},
         {"rows", layout.row_cuts()},
         {"cols", layout.col_cuts()},
         {"members", layout.members()}};
}
static Json json_of(const Buffer& b, const Plan& plan) {
  return {plan.tensor(b.tensor).name,
          storage_names[b.in_arena],
          b.memory,
          b.row,
          b.col,
          b.rows,
          b.cols,
          b.ld,
          b.offset,
          to_string(b.dtype)};
}
static Json json_of(const GemmProblem& p) {
  Json j = problem_columns().json(p);
  j["place"] = {p.place_a, p.place_b, p.place_c};
  j["ld"] = {p.lda, p.ldb, p.ldc};
  return j;
}
static Json json_of(const FactorProblem& p) {
  return {{"routine", FactorProblem::names[size_t(p.kind)]},
          {"m", p.m},
          {"n", p.n},
          {"dtype", to_string(p.dtype)},
          {"place", p.place},
          {"ld", p.ld}};
}

namespace {

template <class Id>
Id id(const JsonReader& r) {
  return Id{r.index()};
}

std::string text(const JsonReader& r) { return r.text(); }
int64_t extent(const JsonReader& r) { return r.extent(); }

/// Applies `read` to each entry of an array.
template <class Read>
auto list(const JsonReader& r, const Read& read) {
  std::vector<decltype(read(r))> values;
  for (const auto i : indices(r)) values.push_back(read(r.entry(i)));
  return values;
}

PlanDecision read_decision(const JsonReader& r) {
  r.sized(2);
  return {r.entry(0).text(), r.entry(1).text()};
}

Evaluator read_evaluator(const JsonReader& r) {
  return Evaluator(r.one_of(evaluator_names));
}

PlanCandidate read_candidate(const JsonReader& r) {
  r.sized(3);
  return {r.entry(0).text(), r.entry(1).real(), read_evaluator(r.entry(2))};
}

PlanReason read_reason(const JsonReader& r, size_t candidates) {
  r.sized(6);
  const auto kind = PlanReason::Kind(r.entry(0).one_of(reason_names));
  const auto index = [&](size_t i, bool is_used) {
    const int read = r.entry(i).index();
    if (is_used && size_t(read) >= candidates)
      r.entry(i).fail("the index of a candidate");
    return size_t(read);
  };
  const bool compares = kind == PlanReason::too_little_gain;
  return {kind,
          index(1, compares || kind == PlanReason::fastest || kind == PlanReason::tuned),
          size_t(r.entry(2).integer(0, INT64_MAX)),
          index(3, compares),
          r.entry(4).text(),
          r.entry(5).text()};
}

PlanOrigin read_origin(const JsonReader& r) {
  PlanOrigin origin;
  origin.decisions = list(r.at("decisions"), read_decision);
  origin.evaluator = read_evaluator(r.at("judge"));
  origin.candidates = list(r.at("candidates"), read_candidate);
  if (r.has("reasons"))
    origin.reasons = list(r.at("reasons"), [&](const JsonReader& reason) {
      return read_reason(reason, origin.candidates.size());
    });
  origin.without_effect = list(r.at("without_effect"), text);
  if (r.has("given")) origin.given = list(r.at("given"), id<MemoryId>);
  return origin;
}

int number(const JsonReader& r) { return r.index(); }

LayoutCuts read_cuts(const JsonReader& r) {
  LayoutCuts cuts{extent(r.at("block"))};
  if (r.has("coordinates") && cuts.block > 0)
    r.at("block").fail("0 where coordinates are given");
  if (r.has("coordinates"))
    cuts.borders = list(r.at("borders"), extent),
    cuts.coordinates = list(r.at("coordinates"), number);
  return cuts;
}

Layout read_layout(const JsonReader& r) {
  if (!r.has("grid")) return id<MemoryId>(r);
  const auto grid = list(r.at("grid").sized(3), number);
  try {
    return {{grid[0], grid[1], grid[2]},
            read_cuts(r.at("rows")),
            read_cuts(r.at("cols")),
            list(r.at("members"), id<MemoryId>)};
  } catch (const InputError& error) {
    throw error.place.empty() ? error.at(r.where()) : error;
  }
}

FactorProblem read_factor(const JsonReader& r) {
  return {FactorProblem::Kind(r.at("routine").one_of(FactorProblem::names)),
          extent(r.at("m")),
          extent(r.at("n")),
          r.at("dtype").parsed(dtype_from_string),
          read_layout(r.at("place")),
          extent(r.at("ld"))};
}

Problem read_problem(const JsonReader& r) {
  if (contains(FactorProblem::names, r.at("routine").text())) return read_factor(r);
  const auto trans = [](string_view letter) { return trans_from_string(letter); };
  const auto places = list(r.at("place").sized(3), read_layout);
  const auto leading = list(r.at("ld").sized(3), extent);
  GemmProblem p;
  p.routine = r.at("routine").parsed(routine_from_string);
  p.m = extent(r.at("m"));
  p.n = extent(r.at("n"));
  p.k = extent(r.at("k"));
  p.dtype = r.at("dtype").parsed(dtype_from_string);
  p.trans_a = r.at("transa").parsed(trans);
  p.trans_b = r.at("transb").parsed(trans);
  p.alpha = r.at("alpha").real();
  p.beta = r.at("beta").real();
  p.place_a = places[0];
  p.place_b = places[1];
  p.place_c = places[2];
  p.lda = leading[0];
  p.ldb = leading[1];
  p.ldc = leading[2];
  return p;
}

OpKind read_kind(const JsonReader& r) {
  std::array<string_view, op_kind_count> names;
  std::ranges::transform(all_op_kinds(), names.begin(),
                         [](OpKind kind) { return to_string(kind); });
  return OpKind(r.one_of(names));
}

Scalar read_scalar(const JsonReader& r) { return Scalar(r.one_of(scalar_names)); }

View read_view(const JsonReader& r) {
  r.sized(5);
  return {id<BufferId>(r.entry(0)), extent(r.entry(1)), extent(r.entry(2)),
          extent(r.entry(3)), extent(r.entry(4))};
}

Op read_op(const JsonReader& r, Plan& plan) {
  Op op;
  op.kind = read_kind(r.at("op"));
  op.queue = id<QueueId>(r.at("queue"));
  const OpKindInfo& kind = info(op.kind);
  op.first = uint32_t(plan.operands.size());
  for (const OperandInfo& operand : kind.operands) {
    plan.operands.push_back(uint32_t(plan.views.size()));
    plan.views.push_back(read_view(r.at(operand.name)));
  }
  if (kind.has_scalars) {
    op.alpha = read_scalar(r.at("alpha"));
    op.beta = read_scalar(r.at("beta"));
  }
  if (kind.has_trans) {
    const size_t both = r.at("trans").one_of(trans_names);
    op.trans_a = Trans(both / 2);
    op.trans_b = Trans(both % 2);
  }
  return op;
}

void add_op(const JsonReader& r, Plan& plan) {
  plan.ops.push_back(read_op(r, plan));
  if (r.has("deps"))
    std::ranges::copy(list(r.at("deps"), id<OpId>), std::back_inserter(plan.deps));
  plan.dep_begin.push_back(uint32_t(plan.deps.size()));
}

Buffer read_buffer(const JsonReader& r, const Plan& plan) {
  r.sized(10);
  const auto tensor = std::ranges::find(plan.tensors, r.entry(0).text(), &Tensor::name);
  if (tensor == plan.tensors.end()) r.entry(0).fail("the name of a tensor");
  return {TensorId{size_t(tensor - plan.tensors.begin())},
          r.entry(1).one_of(storage_names) == 1,
          r.entry(9).parsed(dtype_from_string),
          id<MemoryId>(r.entry(2)),
          extent(r.entry(3)),
          extent(r.entry(4)),
          extent(r.entry(5)),
          extent(r.entry(6)),
          extent(r.entry(7)),
          r.entry(8).integer(0, INT64_MAX)};
}

Queue read_queue(const JsonReader& r) {
  r.sized(4);
  const auto kind = Queue::Kind(r.entry(0).one_of(queue_names));
  return {kind, id<MemoryId>(r.entry(1)), id<MemoryId>(r.entry(2)), r.entry(3).index()};
}

RuntimeCosts read_runtime(const JsonReader& r) {
  constexpr double most =
      1e4;  // s: above the maximum of any policy for the maximum number of GPUs
  const auto cost = [&](const char* key) {
    return Seconds{r.at(key).not_negative(most)};
  };
  return {cost("task_s"), cost("request_s"), cost("peer_s"), cost("call_s"),
          r.at("duplex").boolean()};
}

void read_header(const JsonReader& root, Plan& plan) {
  if (const JsonReader stated = root.at("schema"); stated.index() < schema)
    throw InputError{"", fmt::to_string(stated.index()),
                     "is the schema of plans without layouts and blocks of tensors",
                     fmt::format("{}: a new plan of the problem", schema),
                     stated.where()};
  root.at("schema").integer(schema, schema);
  plan.problem = read_problem(root.at("problem"));
  plan.tensors = tensors_of(plan.problem);
  plan.machine = root.at("machine").text();
  plan.policy = root.at("policy").text();
  plan.tile = root.at("tile").extent();
  plan.single_issuer = root.at("single_issuer").boolean();
  if (root.has("graph")) plan.graph = root.at("graph").boolean();
  if (root.has("warm")) plan.warm = root.at("warm").boolean();
  if (root.has("runtime")) plan.runtime = read_runtime(root.at("runtime"));
  plan.origin = read_origin(root.at("origin"));
  plan.memories = list(root.at("memories"), text);
  plan.peak_bytes = list(root.at("peak_bytes"), [](const JsonReader& r) {
    return r.integer(0, most_matrix_bytes);
  });
  plan.devices = list(root.at("devices"), id<MemoryId>);
  plan.queues = list(root.at("queues"), read_queue);
  plan.buffers =
      list(root.at("buffers"), [&](const JsonReader& r) { return read_buffer(r, plan); });
}

void check_plan(const Plan& plan, const JsonReader& root, const std::string& file) {
  try {
    validate(plan);
  } catch (const InputError& error) {
    throw error.at(file);
  }
  const JsonReader hash = root.at("hash");
  const std::string stated = hash.text(), found = content_hash(plan);
  if (stated != found)
    throw InputError{
        "", stated,
        "is not the hash of the contents: the plan was changed after it was written",
        found, hash.where()};
}

/// The JSON of a plan without its operations.
Json header_json(const Plan& plan) {
  const PlanOrigin& origin = plan.origin;
  const RuntimeCosts& costs = plan.runtime;
  Json j = {
      {"schema", schema},
      {"hash", content_hash(plan)},
      {"problem", std::visit([](const auto& p) { return json_of(p); }, plan.problem)}};
  j["machine"] = plan.machine;
  j["policy"] = plan.policy;
  j["tile"] = plan.tile;
  j["single_issuer"] = plan.single_issuer;
  j["memories"] = plan.memories;
  j["peak_bytes"] = plan.peak_bytes;
  if (plan.graph) j["graph"] = true;
  if (plan.warm) j["warm"] = true;
  if (costs != RuntimeCosts{})
    j["runtime"] = {{"task_s", costs.task.value},
                    {"request_s", costs.request.value},
                    {"peer_s", costs.peer.value},
                    {"call_s", costs.call.value},
                    {"duplex", costs.duplex}};
  j["origin"] = {
      {"decisions", origin.decisions},           {"judge", to_string(origin.evaluator)},
      {"candidates", origin.candidates},         {"reasons", origin.reasons},
      {"without_effect", origin.without_effect}, {"given", origin.given}};
  j["devices"] = plan.devices;
  j["queues"] = plan.queues;
  j["buffers"] = Json::array();
  for (const Buffer& buffer : plan.buffers) j["buffers"].push_back(json_of(buffer, plan));
  return j;
}

template <class... Values>
void add(std::string& out, fmt::format_string<Values...> format, Values&&... values) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Values>(values)...);
}

void add_view(std::string& out, const char* key, const View& v) {
  add(out, R"(,"{}":[{},{},{},{},{}])", key, v.buffer.value, v.row, v.col, v.rows,
      v.cols);
}

void add_op(std::string& out, const Plan& plan, OpId id) {
  const Op& op = plan.op(id);
  const OpKindInfo& kind = info(op.kind);
  const auto name = [](Scalar scalar) { return scalar_names[size_t(scalar)]; };
  add(out, R"({{"op":"{}","queue":{})", kind.name, op.queue.value);
  const auto operands = plan.operands_of(op);
  for (const auto i : indices(operands)) {
    if (kind.has_trans && i + 1 == operands.size())
      add(out, R"(,"trans":"{}")",
          trans_names[2 * size_t(op.trans_a) + size_t(op.trans_b)]);
    add_view(out, kind.operands[i].name, operands[i]);
  }
  if (kind.has_scalars)
    add(out, R"(,"alpha":"{}","beta":"{}")", name(op.alpha), name(op.beta));
  string_view before = R"(,"deps":[)";
  for (const OpId dep : plan.deps_of(id))
    add(out, "{}{}", std::exchange(before, ","), dep.value);
  out += before == "," ? "]}" : "}";
}

}  // namespace

Columns<GemmProblem> problem_columns() {
  using P = GemmProblem;
  return {{"routine", &P::routine},
          {"m", &P::m},
          {"n", &P::n},
          {"k", &P::k},
          {"dtype", &P::dtype},
          {"transa", &P::trans_a},
          {"transb", &P::trans_b},
          {"alpha", &P::alpha},
          {"beta", &P::beta}};
}

void write_json(const Plan& plan, const TextSink& sink) {
  std::string text = header_json(plan).dump();
  text.pop_back();  // the closing brace, which follows the operations
  text += R"(,"ops":[)";
  for (const auto i : indices(plan.ops)) {
    constexpr size_t enough = 1 << 16;
    if (text.size() >= enough) {
      sink(text);
      text.clear();
    }
    if (i > 0) text += ',';
    add_op(text, plan, OpId{i});
  }
  sink(text + "]}");
}

Plan plan_from_json(std::istream& json, const std::string& file) {
  Plan plan;
  plan.dep_begin.assign(1, 0);
  JsonEntries ops{"ops", [&](const JsonReader& r) { add_op(r, plan); }};
  const Json j = parse_json(json, file, {&ops, 1});
  const JsonReader root{j, file, ""};
  read_header(root, plan);
  root.at("ops").size();
  ops.check();
  check_plan(plan, root, file);
  return plan;
}

}  // namespace tilerail
