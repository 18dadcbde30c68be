#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cost/bound.hpp"
#include "model/kernels/energy.hpp"
#include "plan/plan.hpp"
#include "report/timeline/annotate.hpp"

namespace tilerail {

/// The result of a run and the use of its resources. Times in seconds, sizes in bytes;
/// shares are relative to the makespan.
struct Summary {
  struct QueueUse {
    std::string name;
    double busy_s = 0, bytes = 0;
    int64_t ops = 0;
  };
  /// Link: bytes / (makespan * min(bandwidth, crossing queues * per_flow)). Group: share
  /// of its bound, mean over the makespan; absent if never bounded.
  struct LinkUse {
    std::string name;
    double bytes = 0;
    std::optional<double> utilisation = {};
  };
  struct DeviceUse {
    std::string name;
    double busy_s = 0;  // with at least one running kernel
    std::optional<double> energy_j =
        {};  // modelled; absent without watts in the topology
  };
  struct MemoryUse {
    std::string name;
    int64_t peak_bytes = 0;                  // of tiles
    double matrix_bytes = 0;                 // of A, B and C in this memory
    std::optional<double> capacity_bytes{};  // absent: unbounded

    double bytes() const { return double(peak_bytes) + matrix_bytes; }
    bool fits() const { return !capacity_bytes || bytes() <= *capacity_bytes; }
  };
  /// Use of a resource: utilisation of a link or a group, share of time with kernels of a
  /// device.
  struct ResourceUse {
    TimeUse kind;  // link, group or compute
    std::string name;
    double share = 0;  // above 1 if measured copies are faster than described
  };

  /// A part of the makespan, along the critical path (report/timeline/critical_path.hpp).
  struct PathPart {
    TimeUse kind;  // kernels, link, group, memory (copies within one), waiting or issue
    std::string name;  // link, group or memory; or the reason for waiting: "kernels",
                       // "copies" or "workers"
    double seconds = 0;
  };

  /// Modelled energy of the participating devices.
  struct Energy {
    double joules = 0, watts = 0;                        // watts: mean over the makespan
    double edp = 0;                                      // joules times makespan
    std::array<double, metrics.size()> metric_values{};  // of model/kernels/energy.hpp
  };

  TimelineMetadata metadata;
  std::string
      plan_machine;  // machine of the plan; metadata contains the machine of the run
  std::vector<std::string>
      without_effect;      // options without effect, each with the reason
  std::string plan_cache;  // message of the plan cache; "" without a cache
  std::string ran_on;      // substitute for the machine's GPUs; "" without one
  std::string note;        // explains the placement; "" if it needs no explanation
  GemmProblem problem;
  std::vector<std::string> place;  // memories of A, B, C
  double makespan_s = 0, plan_s = 0, execute_s = 0;
  Bound bound;        // of the makespan of any plan on the given GPUs
  double tflops = 0;  // flop / makespan / 1e12, of products or, without any, of
                      // additions; 0 if the makespan is 0
  int64_t ops = 0;
  double bytes_moved = 0;  // between different memories, the sum of the next three
  double bytes_in = 0, bytes_out = 0,
         bytes_peer = 0;                // from a host, to a host, between GPUs
  std::vector<QueueUse> queues;         // every queue of the plan
  std::vector<LinkUse> links, groups;   // every link and every group of the topology
  std::vector<DeviceUse> devices;       // the plan's
  std::vector<MemoryUse> memories;      // every memory
  std::vector<PathPart> critical_path;  // longest first; they add up to the makespan
  std::optional<ResourceUse> busiest;   // absent if all resources are idle
  std::optional<Energy>
      energy;  // absent without watts in the topology, or if the makespan is 0
};

/// Overheads in seconds of real time.
struct RunTimes {
  double plan_s = 0, execute_s = 0;
};

/// `timeline` is `annotate(plan, topology, ...)`.
Summary summarize(const Plan& plan, const Topology& topology,
                  const AnnotatedTimeline& timeline, const RunTimes& times);

/// "kernels of gpu0 and 7 more", "link host->plx0", "h2d engines of gpu0"
std::string to_text(const Binding& binding);
/// "kernels", "group host memory"
std::string to_text(const Summary::PathPart& part);

/// JSON object (docs/formats.md#summary), with a line break at the end.
std::string to_json(const Summary& summary);

/// Text for a terminal, without the queues.
std::string summary_table(const Summary& summary);

}  // namespace tilerail
