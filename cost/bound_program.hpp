#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cost/bound.hpp"
#include "cost/linear_program.hpp"
#include "model/kernels/kernel_limits.hpp"

namespace tilerail {

/// The links that copies between some memories can use over any route. Vertices are the
/// vertices of the machine. Links of other memories are left out.
struct BoundGraph {
  using Numbers = std::span<const size_t>;  // of vertices, links or devices
  struct Link {
    LinkId id;
    size_t from, to;  // vertices
  };
  /// Upper limit of the flow that leaves or enters a vertex.
  struct End {
    size_t vertex;
    double most;
  };
  struct Cut {
    double value = 0;
    std::vector<size_t> links;  // from the side of the sources to the side of the sinks
    std::vector<bool> inside;   // by vertex: whether it is on the side of the sinks
  };

  BoundGraph(const Topology& topology, std::span<const MemoryId> memories);

  /// The cut with the least sum of links, of sources inside and of sinks outside. Values
  /// below 10^-10 count as 0.
  Cut least_cut(const std::vector<double>& capacity, std::span<const End> sources,
                std::span<const End> sinks) const;

  /// By vertex: the least sum of latencies from `vertex`, with `back` to it, over any
  /// links; infinite if unreachable.
  std::vector<double> latencies(size_t vertex, bool back) const;

  /// Highest rate of one copy: over any paths through switches, with `per_flow` on each
  /// link.
  double copy_rate(Numbers from, Numbers to) const;
  /// Whether a path through switches can contain the first link and later the second.
  bool in_one_way(size_t first, size_t then) const;

  const Topology& topology;
  std::vector<Link> links;      // other members refer to links by their index here
  std::vector<bool> is_switch;  // by vertex
  std::vector<std::vector<size_t>> out_of, into;  // by vertex: links
};

/// The linear program of lower_bound for a makespan T: the least share of T that the
/// resources need. T is possible only if this share is <= 1. Elements are counted as
/// shares of their matrix, bytes in units of the largest matrix, time in units of the
/// transfer of that matrix over the fastest link: coefficients are then near 1.
/// docs/model.md#bound
class BoundProgram {
 public:
  /// `problem` is not empty: it multiplies something or scales C.
  BoundProgram(const GemmProblem& problem, const Topology& topology,
               std::span<const MemoryId> devices, bool warm);

  /// Lower bound of the needed share of T (in seconds). T is impossible if the share is
  /// above 1. Returns the minimum of the program, or any share above 1.
  double needed(double seconds);

  /// Largest contributor to the last T passed to `needed`: a kind of resources and the
  /// first resource of this kind, or latency (of the first and last copies and of the
  /// shortest kernels).
  Binding binding() const;

  /// Whether the last `needed` found a need above 1 or added all cuts. Otherwise the
  /// actual need may still be above 1.
  bool is_exact() const { return exact_; }

 private:
  using Numbers = BoundGraph::Numbers;
  using Term = LinearProgram::Term;
  using Terms = std::vector<Term>;
  enum Matrix : size_t {
    a,
    b,
    c,
    old
  };  // old: C before the product, if it is read and must be copied
  struct Resource {
    size_t row;
    TimeUse kind;
    std::string name;
    std::optional<size_t> device =
        {};                   // a device that cannot contribute during part of T
    bool multiplies = false;  // its kernels may slow down under load
  };
  struct Device {
    size_t vertex;
    size_t share;         // of the multiplications
    bool computes;        // its speed is known
    KernelLimits limits;  // of its kernels, if it computes
    double idle;          // part of T before its first and after its last kernel
    double all = 0;       // time of all multiplications without load
    std::array<size_t, 4>
        holds;  // touched parts of A, B and C; of old C, the part that is read
  };
  /// Some of the devices, and the rows that bound what their share of the multiplications
  /// touches.
  struct Region {
    std::vector<size_t> devices;
    std::vector<size_t> rows = {};
  };
  /// The part of a matrix at one vertex, and how many of its elements cross each link.
  struct Part {
    Matrix matrix;
    size_t home;
    double size;                     // of its matrix
    std::vector<size_t> flow = {};   // by link of the graph
    std::vector<size_t> holds = {};  // by device: the elements of this part that it
                                     // touches, if parts differ; else empty
  };
  size_t vertex_of(MemoryId memory) const {
    return topology_.memory(memory).vertex.index();
  }
  size_t add_at_least(double least, const Terms& terms) {
    return program_.add_row(least, unlimited, terms);
  }
  size_t add_at_most_zero(const Terms& terms) {
    return program_.add_row(-unlimited, 0, terms);
  }
  void add_equal(double sum, const Terms& terms) { program_.add_row(sum, sum, terms); }
  static void append(Terms& terms, const Terms& more) {
    terms.insert(terms.end(), more.begin(), more.end());
  }

  // Work of devices, and the data it touches.
  double idle_of(size_t vertex);
  double latency(const Layout& place, size_t vertex, bool back);
  void add_shares();
  double most(const Region& region) const;
  void set_reuse();
  /// Upper bound of the share of a matrix that a region touches: a sum of terms, or
  /// without terms the whole matrix.
  struct DataShare {
    double value = 1;
    Terms terms = {};
  };
  bool add_reuse(Region& region, const std::array<DataShare, 3>& touched);

  // Copies.
  void add_parts(Matrix matrix, const Layout& place, int64_t rows, int64_t cols);
  void add_flows(Part& part);
  double most(const Part& part) const;
  std::optional<size_t> device_at(size_t vertex) const;
  Term held(const Part& part, size_t device, double factor) const;
  Terms crosses(const Part& part, Numbers links, double factor) const;
  Terms comes(const Part& part, size_t vertex, double factor) const;
  void add_inputs(const Part& part);
  void add_results(const Part& part);
  void add_old(const Part& part);

  // Data that must cross between vertices: docs/model.md#bound, "Cuts".
  std::vector<double> flow_of(const Part& part) const;
  DataShare crossing(const Part& part, Numbers devices) const;
  DataShare reached(Matrix matrix, Numbers devices) const;
  bool add_cuts();
  bool add_cuts(const Part& part);
  bool add_use(const Part& part);
  bool add_cut(double least, const Terms& terms);

  // Limits of the machine.
  Resource& add_resource(TimeUse kind, const std::string& name, Terms busy);
  double available(const Resource& resource) const;
  double work(const Device& device) const;
  double explained(const Resource& resource) const;
  double time_by(Rate rate) const { return unit_bytes_ / rate.value / unit_seconds_; }
  void add_compute();
  size_t added(size_t device);
  void add_links();
  Terms carried(size_t link, double factor) const;
  void add_groups();
  std::vector<double> counted_once(const CapacityGroup& group) const;
  void add_duplex(const CapacityGroup& group, std::optional<Rate> capacity, Rate both,
                  std::array<Terms, 2> sides);
  enum Role : size_t { h2d, d2h, peer, between_hosts };
  /// Copies of a role at a memory: the links they use, how many run simultaneously, and
  /// the highest rate of one.
  struct Engine {
    std::string name;
    Role role;
    std::vector<size_t> links;
    int count;
    Rate rate{0};
  };
  std::optional<Engine> engine(MemoryId memory, Role role) const;
  void add_engines();
  using TermsByRole = std::array<std::vector<Terms>, 4>;
  void add_roles(const Part& part, TermsByRole& carries);

  static constexpr double unlimited = LinearProgram::infinity;
  static constexpr size_t most_with_cuts =
      8;  // devices: up to this number, each gets cuts
  static constexpr double precise =
      1e-7;  // tolerance of a solution for cuts, in shares of a matrix

  const GemmProblem& problem_;
  const Topology& topology_;
  std::span<const MemoryId> devices_;
  bool product_, has_b_,
      inputs_come_;  // it multiplies; it has A and B; the inputs must be copied
  std::vector<MemoryId> memories_;  // all memories that take part
  BoundGraph graph_;
  LinearProgram program_;
  std::set<std::pair<double, Terms>> cuts_;
  size_t need_;  // variable: the share of T
  bool exact_ = true;
  double unit_bytes_ = 1, unit_seconds_ = 1;
  std::array<double, 4> size_{};  // of A, B, C, old C
  std::vector<Device> device_;
  std::map<std::pair<MemoryId, bool>, std::vector<double>>
      latencies_;                // by vertex: from a memory, or to it
  double time_ = 0, share_ = 0;  // T, and the share of it that is needed
  std::vector<Region> regions_;  // single devices come first
  std::vector<Part> parts_;
  std::vector<Resource> resources_;
};

}  // namespace tilerail
