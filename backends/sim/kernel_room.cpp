#include "backends/sim/kernel_room.hpp"

namespace tilerail {
namespace {

constexpr double full = 1 - 1e-9;  // sums of shares are rounded

}  // namespace

bool KernelRoom::has_room(MemoryId gpu) const {
  const Gpu& g = gpus_[gpu.index()];
  return g.taken < full && g.line.empty();
}

bool KernelRoom::take_or_wait(OpId op, MemoryId gpu, double share) {
  Gpu& g = gpus_[gpu.index()];
  if (!has_room(gpu)) {
    g.line.push_back({op, share});
    return false;
  }
  g.taken += share;
  ++g.running;
  return true;
}

void KernelRoom::release(MemoryId gpu, double share, std::vector<OpId>& started) {
  Gpu& g = gpus_[gpu.index()];
  g.taken = --g.running == 0 ? 0 : g.taken - share;
  while (!g.line.empty() && g.taken < full) {
    g.taken += g.line.front().share;
    ++g.running;
    started.push_back(g.line.front().op);
    g.line.pop_front();
  }
}

}  // namespace tilerail
