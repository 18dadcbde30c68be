#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "model/base/indices.hpp"
#include "model/base/json_reader.hpp"
#include "plan/json.hpp"
#include "plan/json_names.hpp"
#include "plan/problem_json.hpp"

namespace tilerail {
namespace {

using namespace plan_file;

Json placed_problem_json(const GemmProblem& p) {
  Json j = problem_json(p);
  j["place"] = {p.place_a.value, p.place_b.value, p.place_c.value};
  j["ld"] = {p.lda, p.ldb, p.ldc};
  return j;
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

/// All but buffers and operations.
Json header_json(const Plan& plan) {
  Json j = {{"schema", schema},
            {"hash", content_hash(plan)},
            {"problem", placed_problem_json(plan.problem)},
            {"machine", plan.machine},
            {"policy", plan.policy},
            {"tile", plan.tile},
            {"single_issuer", plan.single_issuer},
            {"memories", plan.memories},
            {"peak_bytes", plan.peak_bytes}};
  if (plan.graph) j["graph"] = true;
  if (plan.warm) j["warm"] = true;
  if (const RuntimeCosts& costs = plan.runtime; costs != RuntimeCosts{})
    j["runtime"] = {{"task_s", costs.task.value},
                    {"request_s", costs.request.value},
                    {"peer_s", costs.peer.value},
                    {"call_s", costs.call.value},
                    {"duplex", costs.duplex}};
  j["origin"] = origin_json(plan.origin);
  j["devices"] = Json::array();
  for (const MemoryId device : plan.devices) j["devices"].push_back(device.value);
  j["queues"] = Json::array();
  for (const Queue& q : plan.queues)
    j["queues"].push_back({queue_names[size_t(q.kind)], q.src.value, q.dst.value, q.index});
  return j;
}

std::string_view name_of(Scalar scalar) { return scalar_names[size_t(scalar)]; }

/// Collects what is written, and hands it on when there is enough.
class Pieces {
 public:
  explicit Pieces(const TextSink& sink) : sink_{sink} {}

  template <class... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
    constexpr size_t enough = 1 << 16;
    if (text_.size() >= enough) hand_on();
  }
  void hand_on() {
    sink_({text_.data(), text_.size()});
    text_.clear();
  }

 private:
  const TextSink& sink_;
  fmt::memory_buffer text_;
};

void add_view(Pieces& out, const char* key, const View& v) {
  out.add(R"(,"{}":[{},{},{},{},{}])", key, v.buffer.value, v.row, v.col, v.rows, v.cols);
}

void add_buffer(Pieces& out, const Buffer& b) {
  out.add(R"(["{}",{},{},{},{},{},"{}"])", buffer_names[size_t(b.kind)], b.memory.value, b.rows, b.cols, b.ld, b.offset,
          to_string(b.dtype));
}

void add_op(Pieces& out, const Plan& plan, OpId id) {
  const Op& op = plan.op(id);
  const OpKindInfo& kind = info(op.kind);
  out.add(R"({{"op":"{}","queue":{})", kind.name, op.queue.value);
  if (kind.a != Access::none) add_view(out, "a", op.a);
  if (kind.b != Access::none) add_view(out, "b", op.b);
  if (kind.has_trans) out.add(R"(,"trans":"{}{}")", to_string(op.trans_a), to_string(op.trans_b));
  if (kind.y != Access::none) add_view(out, "y", op.y);
  if (kind.has_scalars) out.add(R"(,"alpha":"{}","beta":"{}")", name_of(op.alpha), name_of(op.beta));
  std::string_view before = R"(,"deps":[)";
  for (const OpId dep : plan.deps_of(id)) out.add("{}{}", std::exchange(before, ","), dep.value);
  out.add("{}", before == "," ? "]}" : "}");
}

}  // namespace

void write_json(const Plan& plan, const TextSink& sink) {
  std::string header = header_json(plan).dump();
  header.pop_back();  // its brace, which comes behind the operations
  Pieces out{sink};
  out.add(R"({},"buffers":[)", header);
  for (const auto i : indices(plan.buffers)) {
    if (i > 0) out.add(",");
    add_buffer(out, plan.buffers[i]);
  }
  out.add(R"(],"ops":[)");
  for (const auto i : indices(plan.ops)) {
    if (i > 0) out.add(",");
    add_op(out, plan, OpId{i});
  }
  out.add("]}}");
  out.hand_on();
}

std::string to_json(const Plan& plan) {
  std::string text;
  write_json(plan, [&](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace tilerail
