#pragma once

#include <algorithm>
#include <cstddef>
#include <future>
#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <utility>

namespace tilerail::api {

/// A bounded map for several threads, with eviction of the least recently used entry.
template <class Key, class Value>
class SharedCache {
 public:
  /// A capacity of 0 counts as 1: the entry in use is always held.
  explicit SharedCache(size_t capacity) : capacity_{std::max<size_t>(1, capacity)} {}

  /// The cached value, else the result of `make()`. Threads that request the value
  /// meanwhile wait for it and get the same errors; no other thread waits.
  template <class Make>
  Value get(const Key& key, Make make) {
    std::packaged_task<Value()> task{std::move(make)};
    std::shared_future<Value> value;
    Entries evicted;  // destroyed without the lock
    bool is_new = false;
    {
      const std::lock_guard lock{mutex_};
      auto& place = places_.try_emplace(key, entries_.end()).first->second;
      is_new = place == entries_.end();
      if (is_new) place = entries_.emplace(place, key, task.get_future());
      entries_.splice(entries_.begin(), entries_, place);
      value = place->second;
      while (entries_.size() > capacity_) {
        places_.erase(entries_.back().first);
        evicted.splice(evicted.end(), entries_, std::prev(entries_.end()));
      }
    }
    if (is_new) task();
    try {
      return value.get();
    } catch (...) {
      if (is_new) erase(key);
      throw;
    }
  }

  void erase(const Key& key) {
    const std::lock_guard lock{mutex_};
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    entries_.erase(found->second);
    places_.erase(found);
  }

  size_t size() const {
    const std::lock_guard lock{mutex_};
    return entries_.size();
  }

 private:
  using Entries = std::list<std::pair<Key, std::shared_future<Value>>>;
  size_t capacity_;
  mutable std::mutex mutex_;
  Entries entries_;  // most recently used first
  std::map<Key, typename Entries::iterator> places_;
};

}  // namespace tilerail::api
