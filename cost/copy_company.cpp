#include "cost/copy_company.hpp"

#include <algorithm>

#include "cost/strided_copy.hpp"
#include "plan/op_kinds.hpp"

namespace tilerail {
namespace {

constexpr StridedEfficiency::Company nobody{0, 0};

double part(Seconds time, Seconds of) { return of > Seconds{0} ? std::min(1.0, time / of) : 0; }

}  // namespace

CopyCompany::CopyCompany(const Plan& plan, const Topology& topology, const PlanKernelCosts& kernels)
    : topology_{topology} {
  const StridedEfficiency& strided = topology.description().strided;
  if (strided.beside == 1 && strided.forgotten == 0) return;
  times_.resize(topology.memories().size());
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    if (op.kind == OpKind::join) continue;
    const Queue& queue = plan.queue(op.queue);
    if (op.kind != OpKind::copy) {
      times_[queue.dst.index()].kernels += kernels.of(OpId{i}).time;
      continue;
    }
    const bool in = topology.is_host(queue.src);
    if (in == topology.is_host(queue.dst)) continue;
    const double efficiency =
        strided_efficiency(topology, queue.src, queue.dst, copy_columns(plan, op, topology), 0, nobody);
    Times& times = times_[(in ? queue.dst : queue.src).index()];
    (in ? times.in : times.out) += copy_bytes(plan, op) / (efficiency * topology.pair_rate(queue.src, queue.dst));
  }
}

StridedEfficiency::Company CopyCompany::of(const Queue& queue) const {
  const bool in = topology_.is_host(queue.src);
  if (in == topology_.is_host(queue.dst)) return nobody;
  if (times_.empty()) return {};
  const Times& times = times_[(in ? queue.dst : queue.src).index()];
  const Seconds copies = in ? times.in : times.out, back = in ? times.out : times.in;
  const double kernels = part(times.kernels, copies);
  return {std::max(kernels, part(back, copies)), kernels};
}

}  // namespace tilerail
