#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/timeline.hpp"
#include "plan/plan.hpp"
#include "report/timeline/interval.hpp"
#include "report/timeline/string_table.hpp"

namespace tilerail {

/// An operation of a timeline, with its data from the plan. Times in seconds.
struct AnnotatedOp {
  OpKind kind = OpKind::copy;
  uint32_t queue = 0;  // index into AnnotatedTimeline::queues
  uint32_t label = 0;  // index into AnnotatedTimeline::labels
  int64_t bytes = 0;   // moved by a copy
  double flops = 0;    // done by a kernel
  double ready = 0;    // end of its queue predecessor and all dependencies; 0 without any
  double start = 0, end = 0;

  double duration() const { return end - start; }
  bool operator==(const AnnotatedOp&) const = default;
};

/// A queue of the plan. All of its operations have the same src, dst and route.
struct AnnotatedQueue {
  std::string name;      // "gpu0 compute 3", "host->gpu1", "gpu1->host #2"
  std::string device;    // the GPU that the queue occupies
  std::string src, dst;  // memories; equal for kernels and for copies within one memory
  std::string route;  // names of the links from src to dst, joined by ';'; " 1/2" after
                      // links that carry half of the bytes

  bool operator==(const AnnotatedQueue&) const = default;
};

/// Description of the run. Texts contain no control characters; list entries contain no
/// ';'.
struct TimelineMetadata {
  std::string version;  // of the program that wrote it
  /// The machine of the run, which may differ from the plan's.
  std::string plan_hash, machine, policy, problem, backend;
  int64_t tile = 0;
  std::vector<std::string> devices;  // GPUs that compute
  std::vector<std::string> hosts;    // host memories of the machine
  /// Joules by device: modelled from the times (cost/energy.hpp), and from the devices'
  /// counters. Empty if unknown.
  std::vector<double> energy_j, counted_energy_j;
  std::optional<PredictedInterval> interval =
      {};  // of the makespan; only of simulations with uncertainties

  bool operator==(const TimelineMetadata&) const = default;
};

/// A self-contained timeline: the only input of the CSV file, the traces, the figures and
/// the comparison.
struct AnnotatedTimeline {
  TimelineMetadata metadata;
  std::vector<AnnotatedQueue> queues;  // nonempty queues, by first operation
  StringTable labels;  // regions of matrices: "A[0:2048,2048:4096]"; "" if unknown
  std::vector<AnnotatedOp> ops;  // indexed by OpId

  const AnnotatedQueue& queue_of(const AnnotatedOp& op) const { return queues[op.queue]; }
  const std::string& label_of(const AnnotatedOp& op) const { return labels[op.label]; }
  double makespan() const;  // seconds
  bool operator==(const AnnotatedTimeline&) const = default;
};

/// Adds the plan's data to its times. The plan must be valid on the topology
/// (plan/validate.hpp), and the timeline must be of this plan.
AnnotatedTimeline annotate(const Plan& plan, const Topology& topology,
                           const Timeline& timeline);

std::string queue_name(const Plan& plan, const Queue& queue);

/// "gemm m=64 n=32 k=16 dtype=f64 trans=NN alpha=1 beta=0 place=host:host:gpu0"
std::string problem_text(const Plan& plan, const Topology& topology);

}  // namespace tilerail
