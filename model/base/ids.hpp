#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace tilerail {

/// An index into one particular table. Ids of different tables do not mix.
template <class Tag>
struct Id {
  int32_t value = 0;

  constexpr Id() = default;
  constexpr explicit Id(int32_t v) : value{v} {}
  constexpr explicit Id(size_t v) : value{int32_t(v)} {}
  constexpr size_t index() const { return size_t(value); }
  auto operator<=>(const Id&) const = default;
};

using VertexId = Id<struct VertexTag>;  // memory or switch of a topology
using MemoryId = Id<struct MemoryTag>;  // host domain or GPU memory of a topology
using TensorId = Id<struct TensorTag>;  // matrix of a problem
using RankId = Id<struct RankTag>;      // process of a run
using LinkId = Id<struct LinkTag>;      // one direction of a link
using GroupId = Id<struct GroupTag>;    // capacity group
using OpId = Id<struct OpTag>;          // operation of a plan
using QueueId = Id<struct QueueTag>;    // FIFO queue of a plan
using BufferId = Id<struct BufferTag>;  // buffer of a plan

}  // namespace tilerail

template <class Tag>
struct std::hash<tilerail::Id<Tag>> {
  size_t operator()(tilerail::Id<Tag> id) const noexcept {
    return std::hash<int32_t>{}(id.value);
  }
};
