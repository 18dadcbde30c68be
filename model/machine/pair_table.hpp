#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "model/base/ids.hpp"

namespace tilerail {

/// A value for each ordered pair of memories, created on first use, because plans use few
/// pairs of a large machine: 4,096 GPUs have 16.8 million. Thread-safe.
template <class Value>
class PairTable {
 public:
  explicit PairTable(size_t memories)
      : rows_{std::make_unique<Row[]>(memories)}, memories_{memories} {}

  size_t memories() const { return memories_; }

  /// The value of the pair; null before its creation.
  const Value* find(MemoryId src, MemoryId dst) const {
    const Cell* const row = rows_[src.index()].load(std::memory_order_acquire);
    return row ? row[dst.index()].load(std::memory_order_acquire) : nullptr;
  }

  /// The value of the pair; created by `make()` on first use. Exceptions of `make` pass
  /// through, and no value is stored.
  template <class Make>
  const Value& of(MemoryId src, MemoryId dst, const Make& make) const {
    const Value* const value = find(src, dst);
    return value ? *value : add(src, dst, make);
  }

 private:
  using Cell = std::atomic<const Value*>;
  using Row = std::atomic<Cell*>;

  template <class Make>
  const Value& add(MemoryId src, MemoryId dst, const Make& make) const {
    const std::scoped_lock lock{mutex_};
    Cell* row = rows_[src.index()].load(std::memory_order_relaxed);
    if (!row) {
      row = cells_.emplace_back(std::make_unique<Cell[]>(memories_)).get();
      rows_[src.index()].store(row, std::memory_order_release);
    }
    Cell& cell = row[dst.index()];
    if (const Value* const value = cell.load(std::memory_order_relaxed)) return *value;
    const Value& value = values_.emplace_back(make());
    cell.store(&value, std::memory_order_release);
    return value;
  }

  std::unique_ptr<Row[]> rows_;  // by source; null until a pair is used
  size_t memories_;
  mutable std::mutex mutex_;  // protects the following members
  mutable std::vector<std::unique_ptr<Cell[]>> cells_;
  mutable std::deque<Value> values_;  // addresses must be stable
};

}  // namespace tilerail
