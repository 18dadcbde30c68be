#include "backends/host/run/host_executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <functional>
#include <iterator>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "backends/host/run/arena.hpp"
#include "backends/host/run/dispatcher.hpp"
#include "backends/host/run/host_matrices.hpp"
#include "backends/host/run/run_op.hpp"
#include "backends/host/run/worker_pool.hpp"
#include "backends/ranks/agreement.hpp"
#include "check/blas.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "plan/buffer_start.hpp"
#include "plan/builder.hpp"
#include "plan/describe.hpp"
#include "plan/validate.hpp"

namespace tilerail {
namespace {

constexpr unsigned char nan_byte = 0xFF;  // all bytes 0xFF is a NaN in every type

std::vector<MemoryId> devices_of(const Topology& topology, const OwnRank& own) {
  std::vector<MemoryId> devices;
  std::ranges::copy_if(topology.processors(), std::back_inserter(devices),
                       [&](MemoryId id) { return own.has(id); });
  return devices;
}

std::vector<int> workers_of(const Topology& topology, std::span<const MemoryId> devices,
                            const HostOptions& options) {
  if (options.workers < 0) {
    throw out_of_range("workers", std::to_string(options.workers), "at least 0");
  }
  if (devices.empty()) {
    throw fault_of("topology",
                   fmt::format("'{}' has no processor in this rank", topology.name()),
                   "at least one");
  }
  std::vector<int> workers;
  for (const MemoryId id : devices) {
    workers.push_back(options.workers > 0
                          ? options.workers
                          : topology.processor(id).engines.total.value_or(2));
  }
  return workers;
}

}  // namespace

class HostExecutor::State {
 public:
  State(Topology topology, const HostOptions& options)
      : topology_{std::move(topology)},
        devices_{devices_of(topology_, options.own)},
        poison_{options.poison},
        own_{options.own},
        pool_{workers_of(topology_, devices_, options)},
        dispatcher_{pool_.devices()},
        arenas_(topology_.memories().size()),
        fresh_(arenas_.size(), false) {
    host::use_blas_threads(1);
  }

  Timeline execute(const Plan& plan);
  Timeline execute(const PlanPart& part, RankTransport& transport);

  Topology topology_;
  std::vector<MemoryId> devices_;  // by device
  bool poison_;
  OwnRank own_;
  Matrices matrices_;
  const Plan* bound_ = nullptr;
  host::WorkerPool pool_;
  host::Dispatcher dispatcher_;
  std::vector<host::Arena> arenas_;  // by MemoryId

 private:
  /// Returns the plan's hash.
  std::string prepare(const Plan& plan);
  Timeline run(
      const Plan& plan, std::string hash, const std::function<bool(OpId)>& start,
      const std::function<void()>& beside = [] {});
  void start_transfer(const Plan& plan, const Transfer& message,
                      RankTransport& transport) const;
  void require_matrices(const Plan& plan) const;
  void touch_arenas(bool only_fresh);
  void run_op(const Plan& plan, OpId id) const;
  host::Block block(const Plan& plan, const View& view) const;

  std::vector<std::byte*> starts_;  // by MemoryId: start of the arena
  std::vector<bool> fresh_;         // by MemoryId: whether the arena is still untouched
  std::string prepared_;            // hash of the plan that the dispatcher holds
};

Timeline HostExecutor::State::execute(const Plan& plan) {
  return run(plan, prepare(plan), [&](OpId id) {
    run_op(plan, id);
    return true;
  });
}

Timeline HostExecutor::State::execute(const PlanPart& part, RankTransport& transport) {
  const auto fail = [&](const std::exception& error, const std::string& place = "") {
    transport.fail(place + error.what(), dynamic_cast<const InputError*>(&error));
  };
  const auto start = [&](OpId id) {
    try {
      const Transfer* const message = part.transfer(id);
      if (message)
        start_transfer(part.plan, *message, transport);
      else
        run_op(part.plan, id);
      return !message;
    } catch (const std::exception& error) {
      fail(error, describe(part.plan, id) + ": ");
      throw;
    }
  };
  const auto end_transfers = [&] {
    try {
      for (size_t left = part.transfers.size(); left > 0; --left)
        dispatcher_.end(transport.next());
    } catch (const std::exception& error) {
      dispatcher_.fail({{}, error.what()});
    }
  };
  try {
    if (part.own.id != own_.id)
      throw fault_of("plan", fmt::format("is the part of rank {}", part.own.id.value),
                     fmt::format("rank {}", own_.id.value));
    std::string hash = agree(part, transport);
    prepare(part.plan);
    Timeline timeline = run(part.plan, std::move(hash), start, end_transfers);
    end_together(own_, transport);
    return timeline;
  } catch (const std::exception& error) {
    fail(error);
    transport.next();  // throws the first failure of all ranks
    throw;
  }
}

Timeline HostExecutor::State::run(const Plan& plan, std::string hash,
                                  const std::function<bool(OpId)>& start,
                                  const std::function<void()>& beside) {
  require_matrices(plan);
  if (poison_) touch_arenas(false);
  Timeline timeline{"host", std::move(hash), std::vector<OpTime>(plan.ops.size())};
  dispatcher_.reset();
  pool_.run([&](host::WorkerId id) { dispatcher_.work(id.device, start); },
            [&] { dispatcher_.start(timeline.ops); }, beside);
  if (const auto& failure = dispatcher_.failure()) {
    const std::string op = failure->op ? describe(plan, *failure->op) : "another rank";
    if (failure->bad_input) throw fault_of(op, failure->what);
    throw std::runtime_error{op + ": " + failure->what};
  }
  return timeline;
}

void HostExecutor::State::start_transfer(const Plan& plan, const Transfer& message,
                                         RankTransport& transport) const {
  const View& view = plan.operands_of(plan.op(message.op))[message.sends ? 0 : 1];
  const int64_t element = plan.buffer(view.buffer).element();
  const host::Block here = block(plan, view);
  const Strided bytes{here.data, here.rows * element, here.cols, here.ld * element};
  if (message.sends)
    transport.send(message.peer, message.number, bytes, message.op);
  else
    transport.receive(message.peer, message.number, bytes, message.op);
}

std::string HostExecutor::State::prepare(const Plan& plan) {
  std::string hash = content_hash(plan);
  if (hash == prepared_) return hash;
  prepared_.clear();
  validate(plan, topology_, own_);
  require_kernels(plan);
  host::require_executable(plan.dtype());
  dispatcher_.prepare(plan, topology_, devices_);
  for (const auto m : indices(plan.peak_bytes)) {
    try {
      if (arenas_[m].reserve(plan.peak_bytes[m])) fresh_[m] = true;
    } catch (const std::bad_alloc&) {
      throw InputError{plan.memories[m], std::to_string(plan.peak_bytes[m]),
                       "bytes for tiles cannot be allocated on this machine"};
    }
  }
  touch_arenas(true);
  starts_.clear();
  for (const host::Arena& arena : arenas_) starts_.push_back(arena.data());
  prepared_ = hash;
  return hash;
}

void HostExecutor::State::require_matrices(const Plan& plan) const {
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.in_arena || buffer.rows == 0 || buffer.cols == 0 ||
        !own_.has(buffer.memory))
      continue;
    if (matrices_.of(buffer.tensor, buffer.memory) == nullptr)
      throw fault_of(fmt::format("matrix {}", plan.tensor(buffer.tensor).name),
                     "is not given to the host backend");
  }
}

/// A device's arena is written by the device's threads, a host's arena by all threads.
void HostExecutor::State::touch_arenas(bool only_fresh) {
  pool_.run([&](host::WorkerId id) {
    for (const auto m : indices(arenas_)) {
      if (only_fresh && !fresh_[m]) continue;
      const unsigned char value = poison_ ? nan_byte : 0;
      if (topology_.is_host(MemoryId{m})) {
        arenas_[m].fill(id.overall, pool_.size(), value);
      } else if (devices_[size_t(id.device)] == MemoryId{m}) {
        arenas_[m].fill(id.worker, pool_.workers(id.device), value);
      }
    }
  });
  fresh_.assign(fresh_.size(), false);
}

host::Block HostExecutor::State::block(const Plan& plan, const View& view) const {
  return host::block_of(plan, view,
                        start_of(plan.buffer(view.buffer), starts_, matrices_));
}

void HostExecutor::State::run_op(const Plan& plan, OpId id) const {
  const Op& op = plan.op(id);
  const auto operands = plan.operands_of(op);
  std::array<host::Block, most_operands> blocks;
  for (const auto i : indices(operands)) blocks[i] = block(plan, operands[i]);
  host::run_op(plan, op, std::span{blocks}.first(operands.size()));
}

HostExecutor::HostExecutor(Topology topology, const HostOptions& options)
    : state_{std::make_unique<State>(std::move(topology), options)} {}

HostExecutor::~HostExecutor() = default;

void HostExecutor::set_matrices(const Matrices& matrices) {
  state_->matrices_ = matrices;
}

Timeline HostExecutor::execute(const Plan& plan) { return state_->execute(plan); }

Timeline HostExecutor::execute(const PlanPart& part, RankTransport& transport) {
  return state_->execute(part, transport);
}

std::unique_ptr<TestMatrices> HostExecutor::test_matrices(
    std::span<const Plan* const> plans, const TestMatrixOptions& options) {
  return std::make_unique<host::HostMatrices>(plans, options.checked);
}

void HostExecutor::bind(const Plan& plan, const Matrices& matrices) {
  state_->bound_ = &plan;
  state_->matrices_ = matrices;
}

TracedCall HostExecutor::traced_call() {
  Timeline timeline = execute(*state_->bound_);
  const double wall = timeline.makespan().value;
  return {std::move(timeline), {.wall = wall}};
}

const Topology& HostExecutor::topology() const { return state_->topology_; }

int HostExecutor::workers(int device) const { return state_->pool_.workers(device); }

int64_t HostExecutor::arena_bytes(MemoryId memory) const {
  return state_->arenas_[memory.index()].size();
}

}  // namespace tilerail
