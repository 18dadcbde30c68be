// Two "GPUs" made of CPU threads, to test the API, including results, without a GPU.
#pragma once

#include <cmath>
#include <cstring>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "api/hardware.hpp"
#include "api/session.hpp"
#include "backends/host/run/host_executor.hpp"
#include "model/base/memory_shortage.hpp"
#include "model/machine/topology_toml.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::api::test {

/// Calls of the session to the hardware.
struct Log {
  std::mutex mutex;                          // protects the other members during calls
  int lanes = 0;                             // number of lanes
  std::vector<int> lanes_of_runs;            // by run: its lane
  std::function<void(const Plan&)> in_run;   // called in each run, without the mutex
  std::function<void(const Plan&)> in_bind;  // called in each binding, without the mutex
  std::map<std::pair<int, MemoryId>, int64_t> tiles;  // bytes, by lane and GPU
  int64_t tile_memory = 0;  // bytes for the tiles of all lanes on a GPU; 0: any number
  std::vector<std::string>
      steps;  // of the last call: "wait", "access", "run", "finish", "release"
  void* stream = nullptr;  // last stream that was waited for
  std::map<const void*, int>
      on_device;  // devices of addresses; the host for other addresses
  int binds = 0, runs = 0, failures = 0;  // number of following runs that fail
  bool arena_gone = false;         // plans that were bound earlier have lost their memory
  std::vector<MemoryId> reserved;  // devices of the last reservation
  int reserved_streams = 0;        // compute streams of the last reservation
  std::optional<Plan> plan;        // last plan that ran
  std::optional<HostPages> host_pages;  // of the last allocation
  int copies = 0;                       // number of copies of kept matrices
  int synchronized = 0;                 // number of waits for submitted work
  bool run_failed = false;              // the next wait reports a failure
  bool page_locked = false;             // whether matrices on the host are page-locked
  void* captured = nullptr;             // a stream that is being captured
  std::map<MemoryId, int64_t>
      room;  // bytes for tiles of GPUs with less memory than described
};

class FakeLane final : public Lane {
 public:
  FakeLane(std::shared_ptr<Log> log, const Topology& topology)
      : log_{std::move(log)}, number_{log_->lanes++}, executor_{topology} {}

  void reserve(std::span<const MemoryId> gpus, int64_t, int compute_streams) override {
    const std::lock_guard lock{log_->mutex};
    log_->reserved.assign(gpus.begin(), gpus.end());
    log_->reserved_streams = compute_streams;
  }
  std::unique_ptr<BoundPlan> bind(const Plan& plan) override {
    if (log_->in_bind) log_->in_bind(plan);
    const std::lock_guard lock{log_->mutex};
    for (const auto& [gpu, bytes] : log_->room)
      if (plan.peak_bytes[gpu.index()] > bytes)
        throw MemoryShortage{"", {}, "made to be short of memory"};
    allocate_tiles(plan);
    ++log_->binds;
    log_->arena_gone = false;
    return std::make_unique<Bound>(plan);
  }
  int64_t room_for_tiles(MemoryId gpu, int) override {
    const std::lock_guard lock{log_->mutex};
    const auto found = log_->room.find(gpu);
    return found == log_->room.end() ? int64_t{1} << 30 : found->second;
  }
  RunSeconds run_single(BoundPlan& plan, void* stream,
                        const Matrices& matrices) override {
    {
      const std::lock_guard lock{log_->mutex};
      log_->steps = {"single"};
      log_->stream = stream;
    }
    execute(plan, {matrices[0].data, matrices[1].data, matrices[2].data});
    return {2, 1};
  }
  RunSeconds run(BoundPlan& plan, const MemoryAccess& matrices,
                 const Copies& copies) override {
    begin(plan, "run");
    {
      const std::lock_guard lock{log_->mutex};
      ++log_->runs;
      if (log_->failures > 0) {
        --log_->failures;
        throw std::runtime_error{"operation 7 (gemm on gpu1): made to fail"};
      }
    }
    execute(plan, matrices.pointers(), copies);
    return {2, 1};
  }
  RunSeconds submit(BoundPlan& plan, void* stream, const MemoryAccess& access,
                    const Matrices&, const Copies& copies) override {
    begin(plan, "submit");
    {
      const std::lock_guard lock{log_->mutex};
      log_->stream = stream;
    }
    execute(plan, access.pointers(), copies);
    return {0.5, 0.25};
  }
  void synchronize() override {
    const std::lock_guard lock{log_->mutex};
    ++log_->synchronized;
    log_->steps.push_back("synchronize");
    if (std::exchange(log_->run_failed, false))
      throw std::runtime_error{"a submitted run failed"};
  }
  void free_tiles() override {
    const std::lock_guard lock{log_->mutex};
    std::erase_if(log_->tiles, [&](const auto& x) { return x.first.first == number_; });
  }
  std::unique_ptr<MemoryAccess> access(const BoundPlan&, const Matrices& matrices,
                                       std::span<const int>, Pageable) override {
    const std::lock_guard lock{log_->mutex};
    log_->steps.push_back("access");
    return std::make_unique<Access>(matrices, log_);
  }

 private:
  struct Bound final : BoundPlan {
    explicit Bound(const Plan& given) : held{given} {}
    void set_scalars(double alpha, double beta) override {
      held.gemm().alpha = alpha, held.gemm().beta = beta;
    }
    Plan held;
  };
  struct Access final : MemoryAccess {
    Access(const Matrices& given, std::shared_ptr<Log> where)
        : matrices{given}, log{std::move(where)} {}
    ~Access() override { add("release"); }
    Pointers pointers() const override {
      return {matrices[0].data, matrices[1].data, matrices[2].data};
    }
    void finish() override { add("finish"); }
    void add(const char* step) const {
      const std::lock_guard lock{log->mutex};
      log->steps.push_back(step);
    }
    Matrices matrices;
    std::shared_ptr<Log> log;
  };

  /// As in the executor of GPUs, a lane keeps its memory for tiles, and grows it if
  /// needed. The caller holds the mutex.
  void allocate_tiles(const Plan& plan) {
    if (log_->tile_memory == 0) return;
    for (size_t m = 0; m < plan.peak_bytes.size(); ++m) {
      int64_t others = 0;
      for (const auto& [place, bytes] : log_->tiles)
        if (place.second == MemoryId{m} && place.first != number_) others += bytes;
      if (others + plan.peak_bytes[m] > log_->tile_memory)
        throw MemoryShortage{"", {}, "other lanes have the memory"};
      int64_t& here = log_->tiles[{number_, MemoryId{m}}];
      here = std::max(here, plan.peak_bytes[m]);
    }
  }
  void begin(const BoundPlan& plan, const char* step) {
    const std::lock_guard lock{log_->mutex};
    log_->steps.push_back(step);
    if (log_->arena_gone) throw MemoryShortage{"", {}, "the arena is gone"};
    allocate_tiles(dynamic_cast<const Bound&>(plan).held);
  }
  void execute(BoundPlan& plan, const Pointers& matrices, const Copies& copies = {}) {
    const Plan& held = dynamic_cast<const Bound&>(plan).held;
    if (log_->in_run) log_->in_run(held);
    executor_.set_matrices({matrices[0], matrices[1], matrices[2], copies.a, copies.b});
    executor_.execute(held);
    const std::lock_guard lock{log_->mutex};
    log_->lanes_of_runs.push_back(number_);
    log_->plan = held;
  }

  std::shared_ptr<Log> log_;
  int number_;
  HostExecutor executor_;
};

class FakeHardware final : public Hardware {
 public:
  FakeHardware(std::shared_ptr<Log> log, int devices)
      : log_{std::move(log)}, devices_{devices} {}

  int devices() const override { return devices_; }
  Topology describe() const override { return machine(); }
  std::unique_ptr<Lane> open_lane(const Topology& topology) override {
    return std::make_unique<FakeLane>(log_, topology);
  }
  std::shared_ptr<void> keep_caller_state() const override { return {}; }
  void refuse_captured(void* stream) const override {
    if (stream && stream == log_->captured)
      throw InputError{"", {}, "the caller's stream is being captured"};
  }
  bool page_locked(const Matrices&) const override { return log_->page_locked; }
  Location locate(const void* data) const override {
    const std::lock_guard lock{log_->mutex};
    const auto found = log_->on_device.find(data);
    return found == log_->on_device.end() ? Location{} : Location{found->second};
  }
  void wait_for_caller(void* stream, const Matrices&) const override {
    const std::lock_guard lock{log_->mutex};
    log_->steps = {"wait"};
    log_->stream = stream;
  }
  std::vector<std::shared_ptr<void>> copies_on(std::span<const int> devices,
                                               const Matrix& matrix,
                                               int64_t ld) override {
    const std::lock_guard lock{log_->mutex};
    std::vector<std::shared_ptr<void>> copies;
    for (const int device : devices) {
      if (const auto room = log_->room.find(*machine().find_gpu(device));
          room != log_->room.end() && room->second < matrix.bytes())
        throw MemoryShortage{"", {}, "made to be short of memory"};
      const auto bytes = [&](int64_t rows) { return size_t(rows * matrix.element); };
      const auto copy = std::make_shared<std::vector<std::byte>>(bytes(ld * matrix.cols));
      for (int64_t col = 0; col < matrix.cols; ++col)
        std::memcpy(copy->data() + bytes(col * ld),
                    static_cast<const std::byte*>(matrix.data) + bytes(col * matrix.ld),
                    bytes(matrix.rows));
      ++log_->copies;
      log_->on_device[copy->data()] = device;
      copies.emplace_back(copy, copy->data());
    }
    return copies;
  }
  void register_memory(void*, int64_t) override {}
  void unregister_memory(void*) override { throw InputError{"", {}, "not registered"}; }
  void* allocate_host(int64_t bytes, HostPages pages) override {
    const std::lock_guard lock{log_->mutex};
    log_->host_pages = pages;
    buffers_.emplace_back(size_t(bytes));
    return buffers_.back().data();
  }
  void free_host(void* data) override {
    const std::lock_guard lock{log_->mutex};
    log_->steps.push_back("free");
    const auto removed =
        std::erase_if(buffers_, [&](auto& buffer) { return buffer.data() == data; });
    if (removed == 0) throw InputError{"", {}, "not allocated"};
  }
  double host_rate(const void*, int64_t bytes, std::span<const int> devices) override {
    return double(bytes) * double(devices.size());
  }

  static Topology machine() { return tilerail::test::shipped("two-gpu"); }

 private:
  std::shared_ptr<Log> log_;
  std::list<std::vector<std::byte>> buffers_;
  int devices_;
};

inline std::unique_ptr<Session> fake_session(const std::shared_ptr<Log>& log,
                                             const ContextOptions& options = {},
                                             int devices = 2) {
  return std::make_unique<Session>(std::make_unique<FakeHardware>(log, devices), options);
}

}  // namespace tilerail::api::test
