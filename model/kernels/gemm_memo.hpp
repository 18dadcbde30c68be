#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "model/base/units.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// The costs of the GEMM kernels of a machine, each worked out once. A search plans and simulates the same kernels many
/// times. Several threads may ask at the same time.
class GemmMemo {
 public:
  struct Kernel {
    std::int64_t m, n, k;
    std::uint32_t device;  // number of its kernel times
    DType dtype;
    Trans trans_a, trans_b;
    bool in_graph;

    bool operator==(const Kernel&) const = default;
  };
  struct Cost {
    Seconds time{0};
    double share = 1;
    std::optional<Seconds> issue = {};
  };

  /// The cost of the kernel, which `work_out` returns if it is not known yet.
  template <class WorkOut>
  Cost of(const Kernel& kernel, const WorkOut& work_out) {
    if (const auto known = find(kernel)) return *known;
    const Cost cost = work_out();
    add(kernel, cost);
    return cost;
  }

 private:
  struct Hash {
    std::size_t operator()(const Kernel& kernel) const;
  };
  std::optional<Cost> find(const Kernel& kernel) const;
  void add(const Kernel& kernel, const Cost& cost);

  mutable std::mutex mutex_;
  std::unordered_map<Kernel, Cost, Hash> known_;
};

}  // namespace tilerail
