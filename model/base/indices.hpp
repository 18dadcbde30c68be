#pragma once

#include <cstddef>
#include <iterator>

namespace tilerail {

/// The indices of a container for a range-based loop. The number of items is read when
/// the loop begins.
struct Indices {
  size_t count;

  struct Iterator {
    size_t at;
    size_t operator*() const { return at; }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    bool operator==(const Iterator&) const = default;
  };
  Iterator begin() const { return {0}; }
  Iterator end() const { return {count}; }
};
Indices indices(const auto& items) { return {std::size(items)}; }

}  // namespace tilerail
