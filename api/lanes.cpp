#include "api/lanes.hpp"

#include <algorithm>

#include "model/base/contains.hpp"

namespace tilerail::api {

Lanes::Lanes(Hardware& hardware, const Topology& topology) {
  for (size_t i = 0; i < most_lanes; ++i) slots_[i] = {i, hardware.open_lane(topology)};
}

bool Lanes::Slot::is_of_caller() const {
  return std::ranges::any_of(
      pending, [](const auto& run) { return run.first == std::this_thread::get_id(); });
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

/// The lane with runs of this thread, else a free lane: if possible, without pending
/// runs.
Lanes::Slot* Lanes::suitable() {
  Slot *idle = nullptr, *busy = nullptr;
  for (Slot& slot : slots_) {
    if (slot.is_of_caller()) return &slot;
    if (slot.tickets != slot.served) continue;
    Slot*& found = slot.lane->is_idle() ? idle : busy;
    if (!found) found = &slot;
  }
  return idle ? idle : busy;
}

Lanes::Hold Lanes::hold(bool first) {
  if (first) finish(false);
  std::unique_lock lock{mutex_};
  Slot* slot = first ? slots_.data() : nullptr;
  released_.wait(lock, [&] { return slot || (slot = suitable()); });
  Hold held = take(*slot, std::move(lock));
  if (slot->lane->is_idle()) finish(*slot);
  return held;
}

Lanes::Hold Lanes::alone() {
  std::array<Hold, most_lanes> all;
  for (Slot& slot : slots_) {
    all[slot.number] = take(slot, std::unique_lock{mutex_});
    finish(slot);
    if (slot.number > 0) slot.lane->free_tiles();
  }
  return std::move(all.front());
}

void Lanes::add_pending(Slot& slot, std::shared_ptr<const void> uses) {
  const std::lock_guard lock{mutex_};
  const std::pair run{std::this_thread::get_id(), std::move(uses)};
  if (!contains(slot.pending, run)) slot.pending.push_back(run);
}

void Lanes::finish(Slot& slot) {
  if (slot.pending.empty()) return;
  const bool reports = slot.is_of_caller();
  try {
    slot.lane->synchronize();
  } catch (const std::exception&) {
    slot.failure = std::current_exception();
  }
  {
    const std::lock_guard lock{mutex_};
    slot.pending.clear();
  }
  if (reports && slot.failure) std::rethrow_exception(std::exchange(slot.failure, {}));
}

void Lanes::finish(bool all) {
  std::exception_ptr failure;
  for (Slot& slot : slots_) try {
      std::unique_lock lock{mutex_};
      if (!all && !slot.is_of_caller()) continue;
      const Hold held = take(slot, std::move(lock));
      finish(slot);
      if (all && slot.failure) std::rethrow_exception(std::exchange(slot.failure, {}));
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tilerail::api
