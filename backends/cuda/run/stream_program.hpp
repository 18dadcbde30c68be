#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/machine/topology.hpp"
#include "plan/plan.hpp"

namespace tilerail::cuda {

/// A plan as streams and events: the steps of each issuing thread, in order. A queue with
/// operations is a stream or shares one (plan/stream_waits.hpp). A dependency between
/// streams is an event that is recorded once, after its operation, and waited for if
/// needed. Independent of CUDA.
struct StreamProgram {
  struct Stream {
    MemoryId device;  // the GPU that owns it
    bool compute;     // has a cuBLAS handle
    int slot;  // its number among the compute streams or the copy streams of the device
    bool on_host = false;  // its operations are calls of host functions: a lane
  };
  struct Wait {
    uint32_t event;
    OpId op;          // the event marks its end
    uint32_t issuer;  // records the event
  };
  struct Step {
    OpId op;
    uint32_t stream;
    int64_t event;  // to record after the operation, or -1
    uint32_t wait_begin, wait_end;
  };

  std::vector<Stream> streams;
  std::vector<Wait> waits;
  std::vector<uint32_t> event_streams;   // by event: the stream that records it
  std::vector<MemoryId> issuers;         // by issuer: the first memory that it issues for
  std::vector<std::vector<Step>> steps;  // by issuer, operations ascending

  bool has_lanes() const { return std::ranges::any_of(streams, &Stream::on_host); }
};

/// One issuer for each device of the plan, or one for all if the plan requires it. A copy
/// belongs to its source GPU, or to its destination if the source is a host. Kernels of
/// cores and copies between hosts are streams of the machine's first GPU that call host
/// functions. Waits that an earlier wait of the same stream already implies are left out.
/// Throws InputError if these need a GPU and the machine has none.
StreamProgram stream_program(const Plan& plan, const Topology& topology);

}  // namespace tilerail::cuda
