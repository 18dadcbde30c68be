#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>

namespace tilerail::api {

/// A bounded map for several threads, with eviction of the least recently used entry.
template <class Key, class Value>
class SharedCache {
 public:
  /// The entry in use is always held, even with a capacity of 0.
  explicit SharedCache(size_t capacity) : capacity_{capacity} {}

  /// The cached value, else the result of `make()`. Threads that request the value
  /// meanwhile wait for it and get the same errors; no other thread waits.
  template <class Make>
  Value get(const Key& key, Make make) {
    std::packaged_task<Value()> task{make};
    typename Entries::node_type evicted;  // destroyed without the lock
    std::unique_lock lock{mutex_};
    const auto [place, is_new] = entries_.try_emplace(key);
    auto& [value, used] = place->second;
    if (is_new && entries_.size() > 1 && entries_.size() > capacity_)
      evicted = entries_.extract(std::ranges::min_element(
          entries_, {}, [](const auto& entry) { return entry.second.used; }));
    if (is_new) value = task.get_future();
    used = ++uses_;
    const auto result = value;
    lock.unlock();
    if (!is_new) return result.get();
    task();
    try {
      return result.get();
    } catch (...) {
      erase(key);
      throw;
    }
  }

  void erase(const Key& key) {
    const std::lock_guard lock{mutex_};
    entries_.erase(key);
  }

  size_t size() const {
    const std::lock_guard lock{mutex_};
    return entries_.size();
  }

 private:
  struct Entry {
    std::shared_future<Value> value;
    uint64_t used = ~uint64_t{0};  // number of the latest use
  };
  using Entries = std::map<Key, Entry>;

  size_t capacity_;
  mutable std::mutex mutex_;
  uint64_t uses_ = 0;
  Entries entries_;
};

}  // namespace tilerail::api
