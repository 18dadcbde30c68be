#include "plan/describe.hpp"

#include <fmt/format.h>

namespace tilerail {

std::string describe(const Plan& plan, OpId id) {
  const Op& op = plan.op(id);
  const Queue& queue = plan.queue(op.queue);
  const std::string &src = plan.memories[queue.src.index()],
                    &dst = plan.memories[queue.dst.index()];
  const std::string where = queue.kind == Queue::Kind::compute
                                ? fmt::format("compute on {}", dst)
                                : fmt::format("copy {}->{}", src, dst);
  return fmt::format("operation {} ({}, queue {}: {})", id.value, to_string(op.kind),
                     op.queue.value, where);
}

}  // namespace tilerail
