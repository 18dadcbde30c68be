#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/ids.hpp"
#include "model/base/units.hpp"
#include "model/kernels/kernel_times.hpp"

namespace tilerail {

enum class VertexKind { host, gpu, network_switch };

/// Origin of a figure; every table of a topology file names a source.
struct Source {
  enum class Kind { measured, fitted, published, assumed };
  std::string key;
  Kind kind = Kind::assumed;
  std::string text;
};

/// Name of the memory that interleaves pages of all hosts. Vertices of files cannot have
/// it.
inline constexpr std::string_view interleaved_name = "h*";

/// Maximum number of concurrent operations of a role on a processor; absent: unlimited.
struct Engines {
  std::optional<int> h2d, d2h, peer;  // copies from a host, to a host, to another GPU
  std::optional<int> total;           // copies and kernels together (worker threads)
  bool operator==(const Engines&) const = default;
};

/// A GPU, or the cores of a host: computes on the data of one memory.
struct Processor {
  int device = -1;     // number of a GPU; -1: cores
  size_t kernels = 0;  // index into Topology::Description::kernels
  Engines engines;
  std::optional<Watts> idle_watts, busy_watts;
  bool operator==(const Processor&) const = default;
};

struct Memory {
  std::string name;
  VertexKind kind = VertexKind::gpu;
  VertexId vertex;
  std::optional<Bytes> capacity;       // absent: unbounded
  std::optional<Processor> processor;  // every GPU has one, hosts may
  std::string source;
  std::vector<MemoryId> over = {};  // the memories that hold its pages in turns; not
                                    // empty: absent from files and the graph

  /// Engines of the processor; unlimited if the memory has none.
  Engines engines() const { return processor ? processor->engines : Engines{}; }
  /// Kernels that run side by side, each as fast as alone: one per worker thread.
  int workers() const { return engines().total.value_or(1); }
};

/// A memory or a switch in the graph of a machine.
struct Vertex {
  std::string name;
  VertexKind kind;
  std::string source;
};

/// A machine of a cluster: its memories, and the switches that are its network
/// interfaces.
struct Node {
  std::string name;
  std::vector<MemoryId> memories;
  std::vector<VertexId> nics = {};
  std::string source = {};
};

/// One direction of a link.
struct Link {
  std::string name;  // "from->to", with "#2" ... for parallel links
  VertexId from, to;
  Rate bandwidth{0};
  Seconds latency{0};
  std::optional<Rate> per_flow;  // maximum rate of a single copy
  std::string source;
};

/// Capacity of a group by the number of copies: linear between the points, constant
/// beyond them.
struct CapacityCurve {
  struct Point {
    double flows;
    Rate rate;
  };
  std::vector<Point> points;  // flows ascend; never empty

  Rate at(double flows) const;
  Rate saturated() const { return points.back().rate; }
};

/// Links whose traffic shares a capacity. `capacity` limits the sum of all copies on
/// them. While copies run on `forward` and on `backward` links simultaneously,
/// `both_busy` limits the sum instead.
struct CapacityGroup {
  std::string name;
  std::vector<LinkId> forward, backward;
  std::optional<CapacityCurve> capacity, both_busy;
  /// The forward share of the both_busy limit, in (0, 1), if both sides want more than
  /// their share. Absent: all copies are equal.
  std::optional<double> forward_share;
  std::string source;

  /// The current copies: number in total and on each side, and the demand of each side in
  /// B/s (rates alone). A copy counts as `unit`, or as the part of it that crosses the
  /// group: integers, so that additions and removals are exact.
  struct Load {
    double flows = 0, forward = 0, backward = 0;
    double forward_demand = 0, backward_demand = 0;
    double unit = 1;
  };
  /// Limits of the total rate and of the rates of each side; infinite if unlimited.
  struct Bounds {
    Rate all, forward, backward;
  };
  Bounds bounds(const Load& load) const;

  /// Limit of the total rate of `flows` copies on these sides; infinite if the file has
  /// none.
  Rate bound(double flows, bool on_forward, bool on_backward) const;
};

/// Maximum rate of a 2-D copy relative to the packed copy of its bytes: by column bytes
/// and pitch (bytes from one column to the next). The addresses of a column's pages are
/// read from the device's memory or from its cache.
/// docs/model.md#copies-in-two-dimensions
struct StridedEfficiency {
  /// Host bytes whose page table entries share a line of a device's cache: 16 pages of 4
  /// KiB.
  static constexpr Bytes line{65536};

  struct Point {
    Bytes column;
    double efficiency;
    Bytes pitch{0};  // 0: any pitch; all points of a curve have a pitch, or none
  };
  std::vector<Point>
      points;  // pitches ascend, columns of one pitch ascend; empty: efficiency 1
  std::vector<Point> again = {};  // between a host and a device with the pages in its
                                  // cache; empty: like `points`
  std::vector<Point> back = {};   // from a device to a host; empty: like the two above
  std::vector<Point> peer = {};   // between devices; empty: like `points`
  Bytes cache = {};  // bytes that kernels read and write until pages are evicted from the
                     // cache; above 0 if `again` has points
  double beside = 1;     // slowdown of finding pages during kernels and opposite copies
  double forgotten = 0;  // share of the lines common to columns that kernels evict
  Bytes border = {};     // multiples of the border and other pitches are interpolated
                         // separately; 0: all together
  std::string source = {};  // provenance key

  /// Efficiency of columns with a pitch at least as large as all pitches in `points`.
  double at(Bytes column) const;

  /// Shares of the time of a copy between a host and a device with interference on the
  /// device, in [0, 1].
  struct Interference {
    double any = 1;      // from kernels or opposite copies
    double kernels = 1;  // from kernels
    bool operator==(const Interference&) const = default;
  };
  struct Copy {
    Bytes column, pitch;
    bool between_devices = false, to_host = false;
    double again =
        0;  // share of the pages in the cache of the device at its end, in [0, 1]
    Interference interference = {};
  };
  double of(const Copy& copy) const;

 private:
  double beside_others(const std::vector<Point>& curve, const Copy& copy) const;
};

/// Time to submit a plan as one graph that was created before.
struct GraphCost {
  Seconds per_call{0};  // once: launching the graph and waiting for its end
  Seconds per_copy{0};  // host time for each copy between memories
  Seconds per_kernel{
      0};  // device front-end time for each kernel and each copy within the device
  Seconds per_dependency{0};  // for each dependency between a stream of such copies, or
                              // another device, and another stream
  Seconds between_gpus{0};  // event latency between devices: from the end of an operation
                            // to the start of a dependent operation
  bool operator==(const GraphCost&) const = default;
};

/// Time of one host thread to submit one operation to a device.
struct IssueCost {
  Seconds per_op{0};
  std::optional<Seconds> per_kernel = {};  // for kernels, instead of per_op
  Seconds per_call{0};        // once: starting the threads and waiting for all
  Seconds per_dependency{0};  // for each dependency on an operation of another queue
  // Event latency on the device: from the end of a copy to the start of a dependent
  // operation in another queue, and before a copy that waits for a kernel.
  Seconds hand_on{0};
  std::string source = {};              // provenance key
  std::optional<GraphCost> graph = {};  // if the machine supports graphs

  /// For kernels without a time of their own.
  Seconds of_kernels() const { return per_kernel.value_or(per_op); }
};

/// Uncertainty of predicted times by their components: half widths, relative to the
/// prediction, of intervals that contain this share of measurements.
/// docs/model.md#intervals
struct Uncertainty {
  static constexpr double level = 0.9;

  struct Kernels {
    DType dtype;
    double measured_shapes;
    double other_shapes;  // far from measured shapes: only the rule of tiled GEMMs
  };
  std::vector<Kernels> kernels;  // one per type
  double load = 0;  // of kernels slowed down by load, in addition to `kernels`
  double copies = 0;
  double columns = 0;  // of copies in two dimensions, in addition to `copies`
  double issue = 0;
  std::string source = {};  // provenance key

  /// Absent if kernels of the type were not measured.
  std::optional<Kernels> of_kernels(DType dtype) const {
    for (const Kernels& k : kernels)
      if (k.dtype == dtype) return k;
    return std::nullopt;
  }
};

class Routes;

/// A machine as a graph of memories, switches and directed links. Immutable and
/// thread-safe. Copies of a Topology share all data.
class Topology {
 public:
  struct Description {
    std::string name, description;
    std::vector<Source> sources;
    std::vector<Vertex> vertices;
    std::vector<Memory> memories;
    std::vector<Node> nodes = {};  // empty: one node has all memories
    std::vector<Link> links;
    std::vector<CapacityGroup> groups;
    std::vector<KernelTimes> kernels;
    StridedEfficiency strided;
    IssueCost issue;
    std::optional<Uncertainty> uncertainty;
    struct NamedRoute {
      MemoryId from, to;
      std::vector<LinkId> links;  // empty: no copies between the two, even if paths exist
      std::string source = {};
      int share = 1;  // parts of a copy on this route, out of the pair's sum
    };
    std::vector<NamedRoute> routes;
    bool split_paths = false;  // whether other pairs split copies evenly over all
                               // shortest paths, or take one path
  };

  /// Names the links and checks the description. A route between two memories is resolved
  /// on first use: the routes named in the description, else the path (or, if it splits
  /// them, all paths) through switches with the smallest sum of latency + 16 MiB /
  /// bandwidth (Dijkstra). Memories are end points only. Ties are resolved by the lowest
  /// link id, compared from the destination backwards. Throws InputError with the table
  /// entry, its value and the expectation.
  explicit Topology(Description description);

  const std::string& name() const { return d_->name; }
  const Description& description() const { return *d_; }
  /// The memories of the description, followed, if there are several hosts, by "h*":
  /// pages on all hosts in turns (docs/model.md#homes-on-several-hosts). Its routes
  /// combine the routes of its parts.
  const std::vector<Memory>& memories() const { return *memories_; }
  const std::vector<Node>& nodes() const { return d_->nodes; }
  const std::vector<Link>& links() const { return d_->links; }
  const std::vector<CapacityGroup>& groups() const { return d_->groups; }
  const Memory& memory(MemoryId id) const { return memories()[id.index()]; }
  const Link& link(LinkId id) const { return d_->links[id.index()]; }
  const CapacityGroup& group(GroupId id) const { return d_->groups[id.index()]; }
  /// The processor of a memory that `computes`.
  const Processor& processor(MemoryId id) const { return *memory(id).processor; }
  bool computes(MemoryId id) const { return memory(id).processor.has_value(); }
  const KernelTimes& kernels_of(MemoryId id) const {
    return d_->kernels[processor(id).kernels];
  }
  /// Of GPUs the name of the memory; of the cores of the i-th host "cpu<i>", or
  /// "cores<i>" if a memory or switch has that name.
  std::string processor_name(MemoryId id) const;

  /// Memories of the GPUs, by ascending GPU number.
  const std::vector<MemoryId>& gpus() const { return gpus_; }
  /// The memories with processors: `gpus`, then the hosts whose cores compute.
  const std::vector<MemoryId>& processors() const { return processors_; }
  /// The host domains of the description, in order; "h" is the first.
  const std::vector<MemoryId>& hosts() const { return hosts_; }
  /// The memories of the description that a memory represents: usually itself.
  std::span<const MemoryId> parts_of(const MemoryId& id) const {
    const Memory& m = memory(id);
    return m.over.empty() ? std::span{&id, 1} : std::span{m.over};
  }
  bool is_host(MemoryId id) const { return memory(id).kind == VertexKind::host; }
  bool is_gpu(MemoryId id) const { return memory(id).kind == VertexKind::gpu; }
  std::optional<MemoryId> find_gpu(int device) const;
  /// By number of a GPU, name of a GPU, "cpu<i>" or "cores<i>".
  std::optional<MemoryId> find_processor(std::string_view text) const;
  std::optional<MemoryId> find_memory(std::string_view name) const;

  /// Links from `src` to `dst` in order; empty without a route or if src == dst. If a
  /// copy has parts: the links of the first part, then additional links of the others.
  std::span<const LinkId> route(MemoryId src, MemoryId dst) const;
  bool has_route(MemoryId src, MemoryId dst) const {
    return src == dst || !route(src, dst).empty();
  }
  /// The latency of the slowest part.
  Seconds latency(MemoryId src, MemoryId dst) const;

  /// One of several routes between two memories, and the number of parts of a copy on it.
  struct RouteShare {
    std::vector<LinkId> links;
    int share = 1;
  };
  /// Empty if copies take a single route, and for interleaved pages.
  std::span<const RouteShare> route_shares(MemoryId src, MemoryId dst) const;

  /// Number of equal parts of a copy from src to dst, each with its own route: 1 except
  /// for interleaved pages and several routes.
  int parts(MemoryId src, MemoryId dst) const;
  /// A link of the route, and the number of parts that cross it.
  struct LinkUse {
    LinkId link;
    int parts;
    bool operator==(const LinkUse&) const = default;
  };
  /// In the order of `route`, each link once.
  std::span<const LinkUse> links_on(MemoryId src, MemoryId dst) const;

  /// A group that a copy from src to dst loads, and the number of its parts that load it:
  /// on each side, and in total.
  struct GroupUse {
    GroupId group;
    int forward, backward, parts;
    bool operator==(const GroupUse&) const = default;
  };
  /// By ascending group id, each group once, however many of its links are in the route.
  std::span<const GroupUse> groups_on(MemoryId src, MemoryId dst) const;

  /// Rate of a single copy from src to dst; infinite if src == dst, because such a copy
  /// loads no link. Throws InputError without a route.
  Rate pair_rate(MemoryId src, MemoryId dst) const;

 private:
  std::shared_ptr<const Description> d_;
  std::shared_ptr<const std::vector<Memory>> memories_;
  std::vector<MemoryId> gpus_, hosts_, processors_;
  std::shared_ptr<Routes> routes_;
};

}  // namespace tilerail
