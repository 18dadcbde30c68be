// Products of several matrices: each product is a call, and what it makes lies where the plan of the chain says.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "api/session.hpp"
#include "model/base/error.hpp"
#include "model/base/memory_shortage.hpp"
#include "model/machine/spread_memories.hpp"

namespace tilerail::api {
namespace {

/// An operand of a product: a factor, or an intermediate with its memory.
struct Operand {
  char trans = 'N';
  const void* data = nullptr;
  std::int64_t ld = 0;
  std::shared_ptr<void> memory = {};
};

/// The one that is planned, then the others.
std::vector<MemoryId> beginning_with(MemoryId planned, std::vector<MemoryId> places) {
  std::stable_partition(places.begin(), places.end(), [&](MemoryId place) { return place == planned; });
  return places;
}

GemmArguments call_of(const GemmProblem& p, const Operand& a, const Operand& b) {
  GemmArguments call;
  call.dtype = p.dtype;
  call.trans_a = a.trans, call.trans_b = b.trans;
  call.m = p.m, call.n = p.n, call.k = p.k;
  call.a = a.data, call.lda = a.ld, call.b = b.data, call.ldb = b.ld;
  call.beta = 0, call.ldc = p.ldc;
  return call;
}

/// The calls of one chain.
class ChainRun {
 public:
  ChainRun(Session& session, const ChainArguments& arguments, void* stream, ChainInfo& info)
      : session_{session}, arguments_{arguments}, stream_{stream}, info_{info} {}

  void run(const Session::PlannedChain& planned) {
    const ChainOrder order = planned.plan.order();
    info_.order = order_text(order);
    for (const ChainStep& step : planned.plan.steps) {
      const auto begin = std::chrono::steady_clock::now();
      const ChainSpan left = step.product.left(), right = step.product.right();
      ChainInfo::Product& product = info_.products.emplace_back();
      product.factors = fmt::format("{} {}", order_text(order, left), order_text(order, right));
      const MemoryId place = multiply(step, planned, product.plan);
      product.place = session_.topology().memory(place).name;
      product.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    }
  }

 private:
  /// Returns where the result lies.
  MemoryId multiply(const ChainStep& step, const Session::PlannedChain& planned, PlanInfo& plan) {
    const Operand a = taken(step.product.left()), b = taken(step.product.right());
    GemmArguments call = call_of(step.problem, a, b);
    const ChainSpan whole = step.product.whole();
    if (&step != &planned.plan.steps.back())
      return into_intermediate(call, whole, intermediate_bytes(planned.chain, whole),
                               beginning_with(step.place, planned.places), plan);
    call.alpha = arguments_.alpha, call.beta = arguments_.beta, call.c = arguments_.result;
    session_.gemm(call, {.stream = stream_, .plan = &plan});
    return step.place;
  }

  /// Where the memory of a place is short, for the matrix or for tiles beside it, the next one is tried.
  MemoryId into_intermediate(GemmArguments& call, const ChainSpan& span, std::int64_t bytes,
                             std::span<const MemoryId> places, PlanInfo& plan) {
    for (std::size_t i = 0;; ++i) try {
        std::shared_ptr<void> memory = session_.allocate(places[i], bytes);
        call.c = memory.get();
        session_.gemm(call, {.stream = stream_, .plan = &plan});
        made_[span] = {'N', memory.get(), call.ldc, std::move(memory)};
        return places[i];
      } catch (const MemoryShortage&) {
        if (i + 1 == places.size()) throw;
      }
  }

  /// Each operand is used once: the memory of an intermediate goes with its product.
  Operand taken(const ChainSpan& span) {
    if (!span.is_factor()) return std::move(made_.extract(span).mapped());
    const ChainInput& factor = arguments_.factors[span.first];
    return {factor.trans, factor.data, factor.ld};
  }

  Session& session_;
  const ChainArguments& arguments_;
  void* const stream_;
  ChainInfo& info_;
  std::map<ChainSpan, Operand> made_;
};

}  // namespace

/// A factor that all devices have a copy of is read there.
ChainProblem Session::placed(const ChainArguments& arguments, ChainProblem chain) const {
  std::vector<Matrix> matrices = matrices_of(arguments, chain);
  for (Matrix& matrix : matrices) matrix.location = hardware_->locate(matrix.data);
  const Matrix& result = matrices.back();
  if (kept_.overlaps(result)) throw InputError{"the result lies in a matrix that is kept; expected it to be released"};
  const auto each_gpu = topology_.find_memory(copies_name);
  for (std::size_t i = 0; i < chain.factors.size(); ++i) {
    ChainFactor& factor = chain.factors[i];
    if (share_elements(matrices[i], result))
      throw InputError{fmt::format("the result overlaps {}; expected memory of its own", factor_text(i))};
    factor.place = place(matrices[i], ("of " + factor_text(i)).c_str());
    for (std::size_t earlier = i; earlier-- > 0;)
      if (matrices[earlier].data == matrices[i].data) factor.same_as = earlier;  // the first
    const auto kept = kept_.part(matrices[i], devices_);
    if (!kept) continue;
    factor.place = each_gpu ? *each_gpu : kept->copies.front().gpu;
    factor.ld = kept->ld;
  }
  chain.place = place(result, "of the result");
  return chain;
}

Session::PlannedChain Session::planned(const ChainArguments& arguments, const ChainProblem& shape) {
  const std::lock_guard lock{mutex_};
  const auto caller = hardware_->keep_caller_state();
  ChainProblem chain = placed(arguments, shape);
  ChainPlan plan = chains_.plan(chain, devices_, policy_, policy_name_);
  std::vector<MemoryId> places = chain_places(chain, topology_, devices_);
  return {std::move(chain), std::move(plan), std::move(places)};
}

std::shared_ptr<void> Session::allocate(MemoryId place, std::int64_t bytes) {
  if (!topology_.is_gpu(place)) try {
      return {allocate_host(bytes, HostPages::spread), [this](void* data) { free_intermediate(data); }};
    } catch (const InputError& error) {  // so much cannot be page-locked
      throw MemoryShortage{error.what()};
    }
  const std::lock_guard lock{mutex_};
  const auto caller = hardware_->keep_caller_state();
  return hardware_->allocate(place, bytes);
}

/// Only calls of the chain used it, which have been waited for.
void Session::free_intermediate(void* data) noexcept {
  const std::lock_guard lock{mutex_};
  try {
    const auto caller = hardware_->keep_caller_state();
    hardware_->free_host(data);
  } catch (const std::exception&) {  // an earlier error of the devices, which the next call tells
  }
}

void Session::gemm_chain(const ChainArguments& arguments, void* stream, ChainInfo* given) {
  ChainInfo ignored;
  ChainInfo& info = given ? *given : ignored;
  info = {};
  const ChainProblem shape = problem_of(arguments);
  if (shape.rows() == 0 || shape.cols() == 0) return synchronize();
  if (scales_only(shape)) return gemm(scaling(arguments, shape), {.stream = stream});
  ChainRun{*this, arguments, stream, info}.run(planned(arguments, shape));
}

}  // namespace tilerail::api
