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

/// What one run did and what kept it busy. Times in seconds, sizes in bytes; shares are
/// of the makespan.
struct Summary {
  struct QueueUse {
    std::string name;
    double busy_s = 0, bytes = 0;
    int64_t ops = 0;
  };
  /// Of a link: bytes / (makespan * min(bandwidth, queues that cross it * per_flow)). Of
  /// a group: of its bound, mean over the makespan; absent where nothing bounded it.
  struct LinkUse {
    std::string name;
    double bytes = 0;
    std::optional<double> utilisation = {};
  };
  struct DeviceUse {
    std::string name;
    double busy_s = 0;  // while at least one kernel was running
    std::optional<double> energy_j =
        {};  // modelled; absent where the topology gives no watts
  };
  struct MemoryUse {
    std::string name;
    int64_t peak_bytes = 0;                  // of tiles
    double matrix_bytes = 0;                 // what of A, B and C lies there
    std::optional<double> capacity_bytes{};  // absent: unbounded

    double bytes() const { return double(peak_bytes) + matrix_bytes; }
  };
  /// How much a resource was used: a link or a group by utilisation, a device by the
  /// share of time with kernels.
  struct ResourceUse {
    TimeUse kind;  // link, group or compute
    std::string name;
    double share = 0;  // above 1 where measured copies are faster than described
  };

  /// What a part of the makespan went into, along the critical path
  /// (report/timeline/critical_path.hpp).
  struct PathPart {
    TimeUse kind;  // kernels, link, group, memory (copies within one), waiting or issue
    std::string name;  // of the link, group or memory; what was waited for: "kernels",
                       // "copies" or "workers"
    double seconds = 0;
  };

  /// Modelled, of the devices that take part.
  struct Energy {
    double joules = 0, watts = 0;                        // watts: mean over the makespan
    double edp = 0;                                      // joules times makespan
    std::array<double, metrics.size()> metric_values{};  // of model/kernels/energy.hpp
  };

  TimelineMetadata metadata;
  std::string
      plan_machine;  // that the plan was made for; metadata has the one where it ran
  std::vector<std::string>
      without_effect;      // wishes that could not matter, each with the reason
  std::string plan_cache;  // what a plan cache had to say of the plan; "" without one
  std::string ran_on;      // what stood for the GPUs of the machine; "" where nothing did
  std::string note;        // what the placement means; "" where that is plain
  GemmProblem problem;
  std::vector<std::string> place;  // memories of A, B, C
  double makespan_s = 0, plan_s = 0, execute_s = 0;
  Bound bound;        // of the makespan of any plan on the GPUs that were given
  double tflops = 0;  // flop / makespan / 1e12, of the kernels that multiply or, without
                      // any, add; 0 in no time
  int64_t ops = 0;
  double bytes_moved = 0;  // between different memories, the sum of the next three
  double bytes_in = 0, bytes_out = 0,
         bytes_peer = 0;                // from a host, to a host, between GPUs
  std::vector<QueueUse> queues;         // every queue of the plan
  std::vector<LinkUse> links, groups;   // every link and every group of the topology
  std::vector<DeviceUse> devices;       // the plan's
  std::vector<MemoryUse> memories;      // every memory
  std::vector<PathPart> critical_path;  // longest first; they add up to the makespan
  std::optional<ResourceUse> busiest;   // absent where nothing was used
  std::optional<Energy>
      energy;  // absent where the topology gives no watts, or nothing took time
};

/// What it took to get there, in seconds of real time.
struct RunTimes {
  double plan_s = 0, execute_s = 0;
};

/// `timeline` is `annotate(plan, topology, ...)`.
Summary summarize(const Plan& plan, const Topology& topology,
                  const AnnotatedTimeline& timeline, const RunTimes& times);

/// JSON object (docs/formats.md#summary), with a line break at the end.
std::string to_json(const Summary& summary);

/// The same as text for a terminal, without the queues.
std::string summary_table(const Summary& summary);

}  // namespace tilerail
