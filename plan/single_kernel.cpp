#include "plan/single_kernel.hpp"

#include <algorithm>

namespace tilerail {

bool is_single_kernel(const Plan& plan) {
  if (plan.ops.size() != 1 || plan.devices.size() != 1 || !is_kernel(plan.ops.front().kind)) return false;
  if (plan.queue(plan.ops.front().queue).dst != plan.devices.front()) return false;
  return std::ranges::all_of(plan.buffers, [&](const Buffer& buffer) {
    return buffer.kind != Buffer::Kind::tile && buffer.memory == plan.devices.front();
  });
}

}  // namespace tilerail
