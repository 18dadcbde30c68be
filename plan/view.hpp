#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>

#include "model/base/ids.hpp"

namespace tilerail {

/// Rows [row, row + rows) and columns [col, col + cols) of a buffer.
struct View {
  BufferId buffer;
  int64_t row = 0, col = 0, rows = 0, cols = 0;
  bool operator==(const View&) const = default;
};

/// The operands of an operation: contiguous views, or views of a table by their indices.
class Views {
 public:
  template <class Range>
  requires requires(const Range& views) {
    { views.data() } -> std::convertible_to<const View*>;
  }
  Views(const Range& views) : views_{views.data()}, size_{views.size()} {}
  Views(std::span<const View> table, std::span<const uint32_t> indices)
      : views_{table.data()}, indices_{indices.data()}, size_{indices.size()} {}

  size_t size() const { return size_; }
  const View& operator[](size_t i) const { return views_[indices_ ? indices_[i] : i]; }
  const View& front() const { return (*this)[0]; }
  const View& back() const { return (*this)[size_ - 1]; }

  struct Iterator {
    using difference_type = std::ptrdiff_t;
    using value_type = View;
    using reference = const View&;
    using iterator_category = std::forward_iterator_tag;

    const View& operator*() const { return views_[indices_ ? *indices_ : 0]; }
    Iterator& operator++() {
      if (indices_)
        ++indices_;
      else
        ++views_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator&) const = default;

    const View* views_ = nullptr;
    const uint32_t* indices_ = nullptr;
  };
  Iterator begin() const { return {views_, indices_}; }
  Iterator end() const {
    return indices_ ? Iterator{views_, indices_ + size_}
                    : Iterator{views_ + size_, nullptr};
  }

 private:
  const View* views_;
  const uint32_t* indices_ = nullptr;
  size_t size_;
};

}  // namespace tilerail
