// Two "GPUs" made of CPU threads, to test the API, including results, without a GPU.
#pragma once

#include <cmath>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <optional>
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

class FakeHardware final : public Hardware {
 public:
  FakeHardware(std::shared_ptr<Log> log, int devices)
      : log_{std::move(log)}, devices_{devices} {}

  int devices() const override { return devices_; }
  Topology describe() const override { return machine(); }
  void open(const Topology& topology) override {
    executor_ = std::make_unique<HostExecutor>(topology);
  }
  std::shared_ptr<void> keep_caller_state() const override { return {}; }
  void reserve(std::span<const MemoryId> gpus, int64_t, int compute_streams) override {
    log_->reserved.assign(gpus.begin(), gpus.end());
    log_->reserved_streams = compute_streams;
  }
  std::unique_ptr<BoundPlan> bind(const Plan& plan) override {
    for (const auto& [gpu, bytes] : log_->room)
      if (plan.peak_bytes[gpu.index()] > bytes)
        throw MemoryShortage{"", {}, "made to be short of memory"};
    ++log_->binds;
    log_->arena_gone = false;
    return std::make_unique<Bound>(plan);
  }
  int64_t room_for_tiles(MemoryId gpu, int) override {
    const auto found = log_->room.find(gpu);
    return found == log_->room.end() ? int64_t{1} << 30 : found->second;
  }
  RunSeconds run_single(BoundPlan& plan, void* stream,
                        const Matrices& matrices) override {
    log_->steps = {"single"};
    log_->stream = stream;
    execute(plan, {matrices[0].data, matrices[1].data, matrices[2].data});
    return {2, 1};
  }
  RunSeconds run(BoundPlan& plan, const MemoryAccess& matrices,
                 const Copies& copies) override {
    log_->steps.push_back("run");
    if (log_->arena_gone) throw MemoryShortage{"", {}, "the arena is gone"};
    ++log_->runs;
    if (log_->failures > 0) {
      --log_->failures;
      throw std::runtime_error{"operation 7 (gemm on gpu1): made to fail"};
    }
    execute(plan, matrices.pointers(), copies);
    return {2, 1};
  }
  RunSeconds submit(BoundPlan& plan, void* stream, const MemoryAccess& access,
                    const Matrices&, const Copies& copies) override {
    log_->steps.push_back("submit");
    if (log_->arena_gone) throw MemoryShortage{"", {}, "the arena is gone"};
    log_->stream = stream;
    execute(plan, access.pointers(), copies);
    return {0.5, 0.25};
  }
  void synchronize() override {
    ++log_->synchronized;
    log_->steps.push_back("synchronize");
    if (std::exchange(log_->run_failed, false))
      throw std::runtime_error{"a submitted run failed"};
  }
  void refuse_captured(void* stream) const override {
    if (stream && stream == log_->captured)
      throw InputError{"", {}, "the caller's stream is being captured"};
  }
  bool page_locked(const Matrices&) const override { return log_->page_locked; }
  Location locate(const void* data) const override {
    const auto found = log_->on_device.find(data);
    return found == log_->on_device.end() ? Location{} : Location{found->second};
  }
  void wait_for_caller(void* stream, const Matrices&) const override {
    log_->steps = {"wait"};
    log_->stream = stream;
  }
  std::unique_ptr<MemoryAccess> access(const BoundPlan&, const Matrices& matrices,
                                       std::span<const int>, Pageable) override {
    log_->steps.push_back("access");
    return std::make_unique<Access>(matrices, log_);
  }
  std::vector<std::shared_ptr<void>> copies_on(std::span<const MemoryId> gpus,
                                               const Matrix& matrix,
                                               int64_t ld) override {
    std::vector<std::shared_ptr<void>> copies;
    for (const MemoryId gpu : gpus) {
      if (const auto room = log_->room.find(gpu);
          room != log_->room.end() && room->second < matrix.bytes())
        throw MemoryShortage{"", {}, "made to be short of memory"};
      const auto bytes = [&](int64_t rows) { return size_t(rows * matrix.element); };
      const auto copy = std::make_shared<std::vector<std::byte>>(bytes(ld * matrix.cols));
      for (int64_t col = 0; col < matrix.cols; ++col)
        std::memcpy(copy->data() + bytes(col * ld),
                    static_cast<const std::byte*>(matrix.data) + bytes(col * matrix.ld),
                    bytes(matrix.rows));
      ++log_->copies;
      log_->on_device[copy->data()] = machine().memory(gpu).device;
      copies.emplace_back(copy, copy->data());
    }
    return copies;
  }
  void register_memory(void*, int64_t) override {}
  void unregister_memory(void*) override { throw InputError{"", {}, "not registered"}; }
  void* allocate_host(int64_t bytes, HostPages pages) override {
    log_->host_pages = pages;
    buffers_.emplace_back(size_t(bytes));
    return buffers_.back().data();
  }
  void free_host(void* data) override {
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
    ~Access() override { log->steps.push_back("release"); }
    Pointers pointers() const override {
      return {matrices[0].data, matrices[1].data, matrices[2].data};
    }
    void finish() override { log->steps.push_back("finish"); }
    Matrices matrices;
    std::shared_ptr<Log> log;
  };

  void execute(BoundPlan& plan, const Pointers& matrices, const Copies& copies = {}) {
    executor_->set_matrices({matrices[0], matrices[1], matrices[2], copies.a, copies.b});
    const Plan& held = dynamic_cast<const Bound&>(plan).held;
    executor_->execute(held);
    log_->plan = held;
  }

  std::shared_ptr<Log> log_;
  std::list<std::vector<std::byte>> buffers_;
  int devices_;
  std::unique_ptr<HostExecutor> executor_;
};

inline std::unique_ptr<Session> fake_session(const std::shared_ptr<Log>& log,
                                             const ContextOptions& options = {},
                                             int devices = 2) {
  return std::make_unique<Session>(std::make_unique<FakeHardware>(log, devices), options);
}

}  // namespace tilerail::api::test
