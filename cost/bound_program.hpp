#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cost/bound.hpp"
#include "cost/linear_program.hpp"
#include "model/kernels/kernel_limits.hpp"
#include "model/machine/topology.hpp"
#include "model/matrix_blocks.hpp"
#include "model/problem.hpp"

namespace tilerail {

/// The linear program of lower_bound for a makespan T: what share of T do the resources need at least? T is possible
/// only if that is <= 1. The unit of bytes is the largest matrix, that of time its way over the fastest link, so that
/// coefficients are near 1. docs/model.md#bound
class BoundProgram {
 public:
  /// `problem` is not empty and multiplies something or scales C.
  BoundProgram(const GemmProblem& problem, const Topology& topology, std::span<const MemoryId> devices, Staging staging,
               Caches caches);

  /// A share of T, in seconds, that is needed at least. T is impossible where it is above 1.
  double needed(double seconds);

  /// What the largest part of the last T that was `needed` goes to: a kind of resources and the first of them, or
  /// "latency", that of the first copies and the last ones and the shortest kernels.
  std::string binding() const;

 private:
  using Terms = std::vector<LinearProgram::Term>;
  enum Matrix : std::size_t { a, b, c };
  struct Resource {
    std::size_t row;
    std::string_view kind;  // "kernels", "link" ...
    std::string name;
    std::optional<std::size_t> device = {};  // which cannot do anything for this problem in some of T
    bool multiplies = false;                 // it may slow down under load
  };
  struct Device {
    std::size_t share;                 // of the multiplications
    bool computes;                     // it is known how fast
    KernelLimits limits;               // of its kernels, where it does
    double idle;                       // of T, before its kernels and after them
    double all;                        // time of all multiplications with no load
    std::array<std::size_t, 3> holds;  // of A, B and C, that its share touches
    std::vector<std::size_t> reuse;    // rows of `set_reuse`
  };
  /// Devices that reach each other faster than others: what they touch together, and the rows of `set_reuse`.
  struct Island {
    std::vector<std::size_t> devices;
    std::array<std::size_t, 3> touches;
    std::vector<std::size_t> reuse;
  };
  /// A matrix, or part of it, from a memory to another.
  struct Move {
    MemoryId src, dst;
    std::size_t variable;
  };
  /// What of a matrix is copied from a memory to another, or between one device and any others.
  struct Flow {
    std::size_t variable;
    int parts = 1;  // equal ones, of its bytes
    std::vector<Topology::LinkUse> links = {};
    std::vector<Topology::GroupUse> groups = {};
    std::optional<std::pair<MemoryId, int>> engine = {};  // of this memory, in a role: 0 h2d, 1 d2h, 2 peer
    Rate fastest{0};                                      // of one copy, where it has an engine
    double most = 0;                                      // of the variable
  };

  bool is_device(MemoryId memory) const { return std::ranges::find(devices_, memory) != devices_.end(); }
  std::size_t number_of(MemoryId memory) const {
    return static_cast<std::size_t>(std::ranges::find(devices_, memory) - devices_.begin());
  }

  Device device_of(MemoryId memory) const;
  void add_shares();
  std::vector<std::size_t> add_reuse(const std::array<std::size_t, 3>& touches,
                                     const std::vector<std::size_t>& devices);
  void set_reuse();
  void set_reuse(double share, const std::array<std::size_t, 3>& touches, const std::vector<std::size_t>& rows,
                 const std::vector<std::size_t>& devices);
  /// Variables of flows: from a memory to another; from other devices to this one; from this one to others.
  std::size_t flow(MemoryId src, MemoryId dst, Matrix of, double most);
  std::size_t flow_between_any(MemoryId device, bool into, Matrix of);
  bool has_every_pair() const { return devices_.size() <= most_with_every_pair; }
  std::vector<MemoryId> stages(MemoryId home) const;
  void add_stage(Matrix matrix, MemoryId home, MemoryId host, std::vector<Terms>& into,
                 std::vector<std::vector<std::pair<std::size_t, std::size_t>>>& passed, Terms& leaves);
  void add_inputs(Matrix matrix, MemoryId home, const std::vector<MatrixBlock>& blocks);
  void add_c();
  double size_of(const MatrixBlock& block) const;
  void add_islands();

  Resource& add_resource(std::string_view kind, std::string name, Terms busy);
  double available(const Resource& resource) const;
  double work(const Device& device) const;
  double explained(const Resource& resource) const;
  double time_by(Rate rate) const { return unit_bytes_ / rate.value / unit_seconds_; }
  void add_compute();
  double idle(MemoryId device) const;
  double way(MemoryId src, MemoryId dst) const;
  double first_way(MemoryId home, MemoryId dst) const;
  double last_way(MemoryId src, MemoryId home) const;
  Rate fastest(MemoryId src, MemoryId dst) const;
  void add_links();
  void add_groups();
  void add_two_ways(const CapacityGroup& group, std::optional<Rate> capacity, Rate both, std::array<Terms, 2> sides);
  void add_engines();

  static constexpr std::size_t most_with_every_pair = 16;
  static constexpr std::array shapes{0.25, 0.5, 1.0, 2.0, 4.0};  // of a device's part of C: rows over columns, roots

  static constexpr std::array island_sides{0.25, 0.5, 1.0};  // of what an island touches of A, and of B

  const GemmProblem& problem_;
  const Topology& topology_;
  std::span<const MemoryId> devices_;
  Staging staging_;
  bool inputs_come_;  // A and B, where they are not there
  LinearProgram program_;
  std::size_t need_;  // the variable: the share of T
  bool product_ = false;
  double unit_bytes_ = 1, unit_seconds_ = 1;
  std::array<double, 3> size_{};  // of A, B, C
  std::vector<Device> device_;
  double time_ = 0, share_ = 0;  // T, and what of it is needed
  std::vector<Island> islands_;
  std::vector<Flow> flows_;
  std::array<std::vector<Move>, 3> moves_;  // by matrix; all of them where every pair has its own
  std::vector<Resource> resources_;
};

}  // namespace tilerail
