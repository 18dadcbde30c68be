#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "backends/cuda/run/cuda_check.hpp"
#include "backends/cuda/run/tracer.hpp"
#include "backends/cuda/trace/activity_match.hpp"
#include "backends/cuda/trace/cupti_library.hpp"

namespace tilerail::cuda {
namespace {

constexpr size_t buffer_bytes = size_t{8} << 20;
constexpr size_t buffer_alignment = 8;  // required by CUPTI
// CUPTI gives external correlations only for the records of calls, so the kinds for calls
// are also needed.
constexpr std::array kinds{CUPTI_ACTIVITY_KIND_MEMCPY,
                           CUPTI_ACTIVITY_KIND_MEMCPY2,
                           CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                           CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
                           CUPTI_ACTIVITY_KIND_RUNTIME,
                           CUPTI_ACTIVITY_KIND_DRIVER};
constexpr auto correlation_kind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;

#if CUDART_VERSION >= 13000
using MemcpyRecord = CUpti_ActivityMemcpy6;
using KernelRecord = CUpti_ActivityKernel10;
#else
using MemcpyRecord = CUpti_ActivityMemcpy5;
using KernelRecord = CUpti_ActivityKernel9;
#endif
using PeerRecord = CUpti_ActivityMemcpyPtoP4;

/// The data that the callbacks collect. CUPTI has one set of callbacks per process and
/// calls them on its own threads.
struct ActivityLog {
  const CuptiLibrary* cupti = nullptr;
  CUpti_SubscriberHandle subscriber = nullptr;  // one per process
  std::mutex mutex;
  std::vector<ActivityRecord> records;
  std::vector<LaunchMark> marks;
  std::unordered_map<uint64_t, OpId>
      op_of_node;               // nodes of recorded and of instantiated graphs
  std::optional<OpId> issuing;  // the operation whose calls are being recorded
  size_t dropped = 0;
};

ActivityLog& activity_log() {
  static ActivityLog instance;
  return instance;
}

template <class Record>
void add_activity(const CUpti_Activity* activity) {
  const auto* record = reinterpret_cast<const Record*>(activity);
  const uint64_t launcher = record->graphNodeId != 0
                                ? launcher_of_node(record->graphNodeId)
                                : launcher_of_call(record->correlationId);
  activity_log().records.push_back({launcher, record->start, record->end});
}

/// A graph is recorded node by node, and copied at instantiation: records name the nodes
/// of the copy.
void CUPTIAPI node_was_made(void*, CUpti_CallbackDomain, CUpti_CallbackId kind,
                            const void* data) {
  ActivityLog& all = activity_log();
  const std::lock_guard lock{all.mutex};
  const auto* graph = static_cast<const CUpti_GraphData*>(
      static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor);
  uint64_t node = 0, original = 0;
  if (all.cupti->graph_node_id(graph->node, &node) != CUPTI_SUCCESS) return;
  if (kind == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED) {
    if (all.issuing) all.op_of_node[node] = *all.issuing;
  } else if (all.cupti->graph_node_id(graph->originalNode, &original) == CUPTI_SUCCESS) {
    if (const auto known = all.op_of_node.find(original); known != all.op_of_node.end())
      all.op_of_node[node] = known->second;
  }
}

void add(const CUpti_Activity* activity) {
  switch (activity->kind) {
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return add_activity<MemcpyRecord>(activity);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return add_activity<PeerRecord>(activity);
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return add_activity<KernelRecord>(activity);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto* record =
          reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(activity);
      if (record->externalKind == correlation_kind)
        activity_log().marks.push_back(
            {launcher_of_call(record->correlationId), OpId{size_t(record->externalId)}});
      return;
    }
    default:
      return;
  }
}

void CUPTIAPI request_buffer(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(buffer_alignment, buffer_bytes));
  *size = *buffer ? buffer_bytes : 0;
  *most_records = 0;  // no limit
}

void CUPTIAPI complete_buffer(CUcontext context, uint32_t stream, uint8_t* buffer, size_t,
                              size_t valid) {
  ActivityLog& all = activity_log();
  const std::lock_guard lock{all.mutex};
  CUpti_Activity* record = nullptr;
  while (valid > 0 && all.cupti->next_record(buffer, valid, &record) == CUPTI_SUCCESS)
    add(record);
  size_t dropped = 0;
  if (all.cupti->dropped_records(context, stream, &dropped) == CUPTI_SUCCESS)
    all.dropped += dropped;
  std::free(buffer);
}

class CuptiTracer final : public Tracer {
 public:
  explicit CuptiTracer(const CuptiLibrary& cupti) : cupti_{cupti} {}
  ~CuptiTracer() override { pause(); }

  const char* name() const override { return "CUPTI"; }

  void begin(const TracedRun& run) override {
    plan_ = &run.plan;
    if (!recording_)
      for (const CUpti_ActivityKind kind : kinds)
        check(cupti_.enable(kind), "recording activities");
    recording_ = true;
    watch_graphs(run.plan.graph);
    check(cupti_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "flushing activities");
    clear();
  }

  void start() override {
    check(cupti_.timestamp(&origin_), "reading the profiler's clock");
  }

  bool traces_graphs() const override { return watches_graphs_; }

  /// Several threads issue simultaneously, but only one records a graph.
  void before(OpId op, cudaStream_t) override {
    cupti_.push_correlation(correlation_kind, op.index());
    if (watches_graphs_) set_issuing(op);
  }

  void after(OpId, cudaStream_t) override {
    uint64_t last = 0;
    cupti_.pop_correlation(correlation_kind, &last);
    if (watches_graphs_) set_issuing(std::nullopt);
  }

  std::vector<OpTime> end() override {
    cupti_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    ActivityLog& all = activity_log();
    const std::lock_guard lock{all.mutex};
    if (all.dropped > 0)
      throw CudaError{fmt::format("the profiler dropped {} records", all.dropped)};
    for (const auto& [node, op] : all.op_of_node)
      all.marks.push_back({launcher_of_node(node), op});
    return match_activities(*plan_, all.records, all.marks, origin_);
  }

  void abandon() override {
    pause();
    clear();
  }

  void pause() override {
    if (!recording_) return;
    cupti_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    for (const CUpti_ActivityKind kind : kinds) cupti_.disable(kind);
    recording_ = false;
    watch_graphs(false);
  }

  double clock_skew() const override { return 0; }

 private:
  void check(CUptiResult status, const char* what) const {
    if (status == CUPTI_SUCCESS) return;
    const char* text = nullptr;
    cupti_.result_string(status, &text);
    throw CudaError{fmt::format("{}: {}", what, text ? text : "unknown error of CUPTI")};
  }

  static void clear() {
    ActivityLog& all = activity_log();
    const std::lock_guard lock{all.mutex};
    all.records.clear(), all.marks.clear(), all.op_of_node.clear();
    all.issuing.reset();
    all.dropped = 0;
  }

  static void set_issuing(std::optional<OpId> op) {
    ActivityLog& all = activity_log();
    const std::lock_guard lock{all.mutex};
    all.issuing = op;
  }

  /// If another profiler has already subscribed, graphs are not traced.
  void watch_graphs(bool wanted) {
    if (wanted == watches_graphs_) return;
    CUpti_SubscriberHandle& subscriber = activity_log().subscriber;
    if (wanted && !subscriber &&
        cupti_.subscribe(&subscriber, node_was_made, nullptr) != CUPTI_SUCCESS)
      subscriber = nullptr;
    if (!subscriber) return;
    for (const auto kind :
         {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED})
      if (cupti_.enable_callback(wanted ? 1 : 0, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                 kind) != CUPTI_SUCCESS)
        return;
    watches_graphs_ = wanted;
  }

  const CuptiLibrary& cupti_;
  const Plan* plan_ = nullptr;
  uint64_t origin_ = 0;
  bool recording_ = false, watches_graphs_ = false;
};

}  // namespace

std::unique_ptr<Tracer> make_cupti_tracer(std::string& why) {
  const CuptiLibrary* cupti = CuptiLibrary::open(why);
  if (!cupti) return nullptr;
  activity_log().cupti = cupti;
  CUptiResult status = cupti->register_callbacks(request_buffer, complete_buffer);
  for (const CUpti_ActivityKind kind : kinds) {
    if (status == CUPTI_SUCCESS) status = cupti->enable(kind);
    if (status == CUPTI_SUCCESS) status = cupti->disable(kind);
  }
  if (status == CUPTI_SUCCESS) return std::make_unique<CuptiTracer>(*cupti);
  const char* text = nullptr;
  cupti->result_string(status, &text);
  why = std::string{"CUPTI refuses: "} + (text ? text : "unknown error");
  return nullptr;
}

}  // namespace tilerail::cuda
