#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cost/linear_program.hpp"
#include "model/machine/topology.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// The linear program of lower_bound for a makespan T: what share of T do the resources need at least? T is possible
/// only if that is <= 1. The unit of bytes is the largest matrix, that of time its way over the fastest link, so that
/// coefficients are near 1. docs/model.md#bound
class BoundProgram {
 public:
  /// `problem` is not empty and multiplies something or scales C.
  BoundProgram(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices);

  /// The share of T, in seconds, that is needed at least.
  double needed(double seconds);

  /// The kind of resources whose doubling would save most, and the first of them, after `needed`.
  std::string binding() const;

 private:
  using Terms = std::vector<LinearProgram::Term>;
  enum Matrix : std::size_t { a, b, c };
  struct Resource {
    std::size_t row;
    std::string_view kind;  // "kernels", "link" ...
    std::string name;
    double idle = 0;  // of T, in which it can do nothing for this problem
  };
  struct Device {
    std::size_t share;                 // of the multiplications
    std::array<std::size_t, 3> holds;  // of A, B and C, that its share touches
    std::vector<std::size_t> reuse;    // rows of `set_reuse`
  };
  /// What of a matrix is copied from a memory to another, or between one device and any others.
  struct Flow {
    std::size_t variable;
    std::vector<LinkId> links;
    std::vector<Topology::GroupUse> groups;
    std::optional<std::pair<MemoryId, int>> engine = {};  // of this memory, in a role: 0 h2d, 1 d2h, 2 peer
    Rate alone{0};                                        // where it has an engine
  };

  bool is_device(MemoryId memory) const { return std::ranges::find(devices_, memory) != devices_.end(); }
  std::size_t number_of(MemoryId memory) const {
    return static_cast<std::size_t>(std::ranges::find(devices_, memory) - devices_.begin());
  }

  /// Whether it is known how fast; a plan that may choose leaves others out.
  bool computes(MemoryId device) const {
    return !problem_.has_product() || problem_.routine == Routine::axpy ||
           topology_.kernels_of(device).knows(problem_.dtype, problem_.trans_a, problem_.trans_b);
  }

  void add_shares();
  void set_reuse(double time);
  /// Variables of flows: from a memory to another; from other devices to this one; from this one to others.
  std::size_t flow(MemoryId src, MemoryId dst);
  std::size_t flow_between_any(MemoryId device, bool into);
  bool has_every_pair() const { return devices_.size() <= most_with_every_pair; }
  void add_inputs(std::size_t matrix, MemoryId home);
  void add_c();

  void add_resource(std::string_view kind, std::string name, Terms busy, double idle = 0);
  double time_by(Rate rate) const { return unit_bytes_ / rate.value / unit_seconds_; }
  void add_compute();
  double way(MemoryId src, MemoryId dst) const;
  void add_links();
  void add_groups();
  void add_two_ways(const CapacityGroup& group, std::optional<Rate> capacity, Rate both, std::array<Terms, 2> sides);
  void add_engines();

  static constexpr std::size_t most_with_every_pair = 16;
  static constexpr std::array shapes{0.25, 0.5, 1.0, 2.0, 4.0};  // of a device's part of C: rows over columns, roots

  const GemmProblem& problem_;
  const Topology& topology_;
  std::span<const MemoryId> devices_;
  LinearProgram program_;
  std::size_t need_;  // the variable: the share of T
  bool product_ = false;
  double unit_bytes_ = 1, unit_seconds_ = 1;
  std::array<double, 3> size_{};  // of A, B, C
  std::vector<Device> device_;
  std::vector<double> all_;  // by device: time of all multiplications
  std::vector<Flow> flows_;
  std::vector<Resource> resources_;
};

}  // namespace tilerail
