#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <utility>

namespace tilerail::api {

/// A bounded map with eviction of the least recently used entry. Pointers to values are
/// valid until their entry is evicted.
template <class Key, class Value>
class LruCache {
 public:
  /// A capacity of 0 counts as 1: the entry in use is always held.
  explicit LruCache(size_t capacity) : capacity_{capacity == 0 ? 1 : capacity} {}

  /// Null if not found; otherwise the entry becomes the most recently used.
  Value* find(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &entries_.front().second;
  }

  /// `key` must not be in the cache.
  Value& insert(const Key& key, Value value) {
    while (entries_.size() >= capacity_) {
      places_.erase(entries_.back().first);
      entries_.pop_back();
    }
    entries_.emplace_front(key, std::move(value));
    places_[key] = entries_.begin();
    return entries_.front().second;
  }

  void erase(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return;
    entries_.erase(found->second);
    places_.erase(found);
  }
  void clear() {
    places_.clear();
    entries_.clear();
  }
  size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<Key, Value>>;
  size_t capacity_;
  Entries entries_;  // most recently used first
  std::map<Key, typename Entries::iterator> places_;
};

}  // namespace tilerail::api
