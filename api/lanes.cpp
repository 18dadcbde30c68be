#include "api/lanes.hpp"

#include <utility>

namespace tilerail::api {

Lanes::Lanes(Hardware& hardware, const Topology& topology) {
  for (size_t i = 0; i < most_lanes; ++i) slots_[i] = {i, hardware.open_lane(topology)};
}

void Lanes::Release::operator()(Slot* slot) const {
  const std::lock_guard lock{lanes->mutex_};
  ++slot->served;
  lanes->released_.notify_all();
}

Lanes::Hold Lanes::take(Slot& slot, std::unique_lock<std::mutex> lock) {
  const uint64_t ticket = slot.tickets++;
  released_.wait(lock, [&] { return slot.served == ticket; });
  return Hold{&slot, {this}};
}

/// The lane with runs of this thread, else a free lane: if possible, without submitted
/// runs.
Lanes::Slot* Lanes::suitable() {
  Slot* found = nullptr;
  for (Slot& slot : slots_) {
    if (slot.owner == std::this_thread::get_id()) return &slot;
    if (slot.tickets == slot.served && (!found || found->used.size() > slot.used.size()))
      found = &slot;
  }
  return found;
}

Lanes::Hold Lanes::hold(bool first) {
  if (first) finish(false);
  std::unique_lock lock{mutex_};
  Slot* slot = first ? slots_.data() : nullptr;
  released_.wait(lock, [&] { return slot || (slot = suitable()); });
  Hold held = take(*slot, std::move(lock));
  if (slot->owner != std::this_thread::get_id()) finish(*slot);
  return held;
}

/// Holds at most one other lane, so that calls can use the rest.
Lanes::Hold Lanes::hold_with_memory() {
  Hold first;
  for (Slot& slot : slots_) {
    Hold held = take(slot, std::unique_lock{mutex_});
    finish(slot);
    if (first)
      slot.lane->free_tiles();
    else
      first = std::move(held);
  }
  return first;
}

void Lanes::add_pending(Slot& slot, const std::shared_ptr<const void>& used) {
  if (slot.used.empty() || slot.used.back() != used) slot.used.push_back(used);
  const std::lock_guard lock{mutex_};
  slot.owner = std::this_thread::get_id();
}

void Lanes::finish(Slot& slot, bool reports) {
  reports = reports || slot.owner == std::this_thread::get_id();
  if (!slot.used.empty()) {
    try {
      slot.lane->synchronize();
    } catch (const std::exception&) {
      slot.failure = std::current_exception();
    }
    slot.used.clear();
    const std::lock_guard lock{mutex_};
    slot.owner = {};
  }
  if (reports && slot.failure) std::rethrow_exception(std::exchange(slot.failure, {}));
}

void Lanes::finish(bool all) {
  std::exception_ptr failure;
  for (Slot& slot : slots_) try {
      std::unique_lock lock{mutex_};
      if (!all && slot.owner != std::this_thread::get_id()) continue;
      const Hold held = take(slot, std::move(lock));
      finish(slot, all);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tilerail::api
