#include "backends/fluid/kernel_room.hpp"

#include "cost/kernel_costs.hpp"

namespace tilerail {

bool KernelRoom::has_room(MemoryId gpu) const {
  const Gpu& g = gpus_[gpu.index()];
  return leaves_room(g.taken) && g.line.empty();
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
  while (!g.line.empty() && leaves_room(g.taken)) {
    g.taken += g.line.front().share;
    ++g.running;
    started.push_back(g.line.front().op);
    g.line.pop_front();
  }
}

}  // namespace tilerail
