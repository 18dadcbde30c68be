#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/ids.hpp"
#include "model/base/units.hpp"
#include "model/kernels/kernel_times.hpp"

namespace tilerail {

enum class NodeKind { host, gpu, network_switch };

/// Where a figure comes from; every table of a topology file names one of these.
struct Source {
  enum class Kind { measured, fitted, published, assumed };
  std::string key;
  Kind kind = Kind::assumed;
  std::string text;
};

/// How many operations of a role a device runs at once; absent means no limit.
struct Engines {
  std::optional<int> h2d, d2h,
      peer;  // copies into it from a host, out of it to a host, out of it to another GPU
  std::optional<int>
      total;  // copies and kernels together (host devices made of worker threads)
};

/// Where the pages of a matrix lie that is in several memories: page by page in turns, in
/// as many contiguous blocks of its columns or of its rows, or all of them in each.
enum class Pages : uint8_t { whole, interleaved, columns, rows, copies };

struct Memory {
  std::string name;
  NodeKind kind = NodeKind::gpu;
  NodeId node;
  int device = -1;                // GPU number; -1 for host domains
  std::optional<Bytes> capacity;  // absent: unbounded
  size_t kernels = 0;             // index into Topology::kernels, GPUs only
  Engines engines;
  std::optional<Watts> idle_watts, busy_watts;
  std::string source;
  Pages pages = Pages::whole;  // else it stands for all of `over`, and neither file nor
                               // graph has it
  std::vector<MemoryId> over = {};
};

struct Node {
  std::string name;
  NodeKind kind;
  std::string source;
};

/// One direction of a link.
struct Link {
  std::string name;  // "from->to", with "#2" ... for parallel links
  NodeId from, to;
  Rate bandwidth{0};
  Seconds latency{0};
  std::optional<Rate> per_flow;  // a single copy gets at most this
  std::string source;
};

/// Capacity of a group by how many copies share it: linear between the points, constant
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

/// Links whose traffic shares one bound. `capacity` bounds the sum of all copies on them.
/// While copies run on `forward` and on `backward` links at once, `both_busy` bounds it
/// instead.
struct CapacityGroup {
  std::string name;
  std::vector<LinkId> forward, backward;
  std::optional<CapacityCurve> capacity, both_busy;
  /// The part of the both_busy bound, in (0, 1), that the forward copies get when both
  /// sides want more than their part. Absent: all copies are equal.
  std::optional<double> forward_share;
  std::string source;

  /// The copies on it now: how many in all and on each side, and what those of a side
  /// would take alone, in B/s. Each counts `unit`, or so much of it as its bytes are on
  /// the group: whole numbers, which add up and go without a rest.
  struct Load {
    double flows = 0, forward = 0, backward = 0;
    double forward_demand = 0, backward_demand = 0;
    double unit = 1;
  };
  /// Bounds of the rates of all copies, and of those of each side; infinite where there
  /// is none.
  struct Bounds {
    Rate all, forward, backward;
  };
  Bounds bounds(const Load& load) const;

  /// Bound of the sum while `flows` copies load the group, on these sides; infinite where
  /// the file gives none.
  Rate bound(double flows, bool on_forward, bool on_backward) const;
};

/// The most that a 2-D copy gets, over what the same bytes get when they are packed: by
/// the bytes of a column and the pitch (bytes from one column to the next). Where the
/// pages of each column are is read from the device's memory, or from its cache if that
/// still has it. docs/model.md#copies-in-two-dimensions
struct StridedEfficiency {
  /// Bytes of a host whose entries of the page table share a line of a device's cache: 16
  /// pages of 4 KiB.
  static constexpr Bytes line{65536};

  struct Point {
    Bytes column;
    double efficiency;
    Bytes pitch{
        0};  // 0: any pitch; either all points of a curve have a pitch or none has
  };
  std::vector<Point>
      points;  // pitches ascend, columns of one pitch ascend; empty: no loss
  std::vector<Point> again =
      {};  // between a host and a device whose cache knows the pages; empty: as `points`
  std::vector<Point> back = {};  // from a device to a host; empty: as the two above
  std::vector<Point> peer = {};  // between devices; empty: as `points`
  Bytes cache = {};   // what kernels read and write until the cache has forgotten pages;
                      // above 0 where `again` has points
  double beside = 1;  // how many times as long finding pages takes beside kernels and
                      // copies the other way
  double forgotten = 0;  // share of what columns of one copy know of each other's pages
                         // that kernels push out
  Bytes border = {};  // its multiples are compared with each other only, and so are other
                      // pitches; 0: all alike
  std::string source = {};  // provenance key

  /// Efficiency of columns whose pitch is not below any in `points`.
  double at(Bytes column) const;

  /// For how much of its time a copy between a host and a device has company on the
  /// device, in [0, 1].
  struct Company {
    double any = 1;      // kernels or copies the other way
    double kernels = 1;  // kernels
    bool operator==(const Company&) const = default;
  };
  struct Copy {
    Bytes column, pitch;
    bool between_devices = false, to_host = false;
    double again =
        0;  // share of the pages that the cache of the device at its end knows, in [0, 1]
    Company company = {};
  };
  double of(const Copy& copy) const;

 private:
  double beside_others(const std::vector<Point>& curve, const Copy& copy) const;
};

/// What it costs to hand a plan over as one graph, which was made before.
struct GraphCost {
  Seconds per_call{0};  // once: launching the graph, and waiting for its end
  Seconds per_copy{0};  // of host time, for each copy from one memory to another
  Seconds per_kernel{
      0};  // of the device's front end, for each kernel and each copy within the device
  Seconds per_dependency{0};  // for each one between a stream of such copies, or another
                              // device, and another stream
  Seconds between_gpus{0};    // from the end of an operation of a device until what waits
                              // for it on another can start
  bool operator==(const GraphCost&) const = default;
};

/// What it costs one host thread to hand one operation to a device.
struct IssueCost {
  Seconds per_op{0};
  std::optional<Seconds> per_kernel = {};  // instead, where the operation is a kernel
  Seconds per_call{0};        // once: starting the threads and waiting for all
  Seconds per_dependency{0};  // for each dependency on an operation of another queue
  // From the end of a copy, on the device, until what waits for it in another queue can
  // start; and before a copy that waits for a kernel.
  Seconds hand_on{0};
  std::string source = {};              // provenance key
  std::optional<GraphCost> graph = {};  // where the machine takes graphs

  /// Of a kernel whose own cost is not known.
  Seconds of_kernels() const { return per_kernel.value_or(per_op); }
};

/// How far times are from what a description says, by what they are spent on: half widths
/// of intervals, relative to what it says, that hold this share of what was measured.
/// docs/model.md#intervals
struct Uncertainty {
  static constexpr double level = 0.9;

  struct Kernels {
    DType dtype;
    double measured_shapes;
    double other_shapes;  // so far from any measured one that only the rule of tiled
                          // GEMMs speaks of them
  };
  std::vector<Kernels> kernels;  // each type once
  double load =
      0;  // of kernels on a device that its load slows down, beside the one above
  double copies = 0;
  double columns = 0;  // of copies in two dimensions, beside the one above
  double issue = 0;
  std::string source = {};  // provenance key

  /// Absent where kernels of the type were not measured.
  std::optional<Kernels> of_kernels(DType dtype) const {
    for (const Kernels& k : kernels)
      if (k.dtype == dtype) return k;
    return std::nullopt;
  }
};

class Routes;

/// A machine as a graph of memories, switches and directed links. Immutable once built.
/// Copies share everything; threads may use one at the same time.
class Topology {
 public:
  struct Description {
    std::string name, description;
    std::vector<Source> sources;
    std::vector<Node> nodes;
    std::vector<Memory> memories;
    std::vector<Link> links;
    std::vector<CapacityGroup> groups;
    std::vector<KernelTimes> kernels;
    StridedEfficiency strided;
    IssueCost issue;
    std::optional<Uncertainty> uncertainty;
    struct NamedRoute {
      MemoryId from, to;
      std::vector<LinkId>
          links;  // empty: there are no copies between the two, whatever paths there are
      std::string source = {};
      int share = 1;  // parts of a copy that take it, of those of all routes of the pair
    };
    std::vector<NamedRoute> routes;
    bool split_paths = false;  // other pairs split copies evenly over all paths of the
                               // least time; else they take one
  };

  /// Names the links and checks the description. A route between two memories is resolved
  /// when it is first asked for: those that the description names, else the path (or, if
  /// it splits them, all paths) through switches with the least sum of latency + 16 MiB /
  /// bandwidth (Dijkstra). Memories are end points only. Of equal paths the one with the
  /// lowest link id wins, compared from the destination backwards. Throws InputError
  /// naming the table entry, its value and what was expected.
  explicit Topology(Description description);

  const std::string& name() const { return d_->name; }
  const Description& description() const { return *d_; }
  /// Those of the description and, where it has several hosts, or several GPUs, one for
  /// each way in which a matrix may lie in all of them
  /// (model/machine/spread_memories.hpp). A route to or from such a memory is made of
  /// those of its parts.
  const std::vector<Memory>& memories() const { return *memories_; }
  const std::vector<Link>& links() const { return d_->links; }
  const std::vector<CapacityGroup>& groups() const { return d_->groups; }
  /// How many of them, the first, a copy may start from: all but the one of which each
  /// GPU has a copy.
  size_t sources() const { return memories().size() - (gpus_.size() > 1 ? 1 : 0); }
  const Memory& memory(MemoryId id) const { return memories()[id.index()]; }
  const Link& link(LinkId id) const { return d_->links[id.index()]; }
  const CapacityGroup& group(GroupId id) const { return d_->groups[id.index()]; }
  const KernelTimes& kernels_of(MemoryId gpu) const {
    return d_->kernels[memory(gpu).kernels];
  }

  /// Memories of the GPUs, by ascending GPU number.
  const std::vector<MemoryId>& gpus() const { return gpus_; }
  /// The host domains of the description, in its order; "h" is the first.
  const std::vector<MemoryId>& hosts() const { return hosts_; }
  /// The memories of the description that a memory stands for: mostly itself.
  std::span<const MemoryId> parts_of(const MemoryId& id) const {
    const Memory& m = memory(id);
    return m.over.empty() ? std::span{&id, 1} : std::span{m.over};
  }
  bool is_host(MemoryId id) const { return memory(id).kind == NodeKind::host; }
  bool is_gpu(MemoryId id) const {
    return memory(id).kind == NodeKind::gpu && !has_copies(id);
  }
  /// Whether `memory` has all of a matrix whose place is `place`: it is that place, or a
  /// GPU of which each has a copy.
  bool has_all_of(MemoryId place, MemoryId memory) const {
    return place == memory || (has_copies(place) && is_gpu(memory));
  }
  bool has_copies(MemoryId place) const { return memory(place).pages == Pages::copies; }
  std::optional<MemoryId> find_gpu(int device) const;
  std::optional<MemoryId> find_memory(std::string_view name) const;

  /// Links from `src` to `dst` in order; empty when there is no route or src == dst.
  /// Where a copy has parts, those of the first, then those that other parts add.
  std::span<const LinkId> route(MemoryId src, MemoryId dst) const;
  bool has_route(MemoryId src, MemoryId dst) const {
    return src == dst || !route(src, dst).empty();
  }
  /// That of the slowest part.
  Seconds latency(MemoryId src, MemoryId dst) const;

  /// One of several ways between two memories, and how many parts of a copy take it.
  struct Way {
    std::vector<LinkId> links;
    int share = 1;
  };
  /// Empty where a copy takes one way, and of spread memories.
  std::span<const Way> ways(MemoryId src, MemoryId dst) const;

  /// Equal parts of a copy from src to dst, each with a way of its own: 1 but for spread
  /// memories and several routes.
  int parts(MemoryId src, MemoryId dst) const;
  /// A link of the route, and how many of the parts cross it.
  struct LinkUse {
    LinkId link;
    int parts;
    bool operator==(const LinkUse&) const = default;
  };
  /// In the order of `route`, each link once.
  std::span<const LinkUse> links_on(MemoryId src, MemoryId dst) const;

  /// A group that a copy from src to dst loads, and how many of its parts do so: on each
  /// side, and in all.
  struct GroupUse {
    GroupId group;
    int forward, backward, parts;
    bool operator==(const GroupUse&) const = default;
  };
  /// By ascending group id, each group once, however many of its links the route
  /// contains.
  std::span<const GroupUse> groups_on(MemoryId src, MemoryId dst) const;

  /// Rate of one copy from src to dst with nothing else running; infinite when src ==
  /// dst, which loads no link. Throws InputError when there is no route.
  Rate pair_rate(MemoryId src, MemoryId dst) const;

 private:
  std::shared_ptr<const Description> d_;
  std::shared_ptr<const std::vector<Memory>> memories_;
  std::vector<MemoryId> gpus_, hosts_;
  std::shared_ptr<Routes> routes_;
};

}  // namespace tilerail
