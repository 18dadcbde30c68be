#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/arguments.hpp"
#include "api/call_planner.hpp"
#include "api/hardware.hpp"
#include "api/kept_matrices.hpp"
#include "api/lru_cache.hpp"
#include "api/signature.hpp"
#include "model/machine/topology.hpp"
#include "sched/policy/policy.hpp"
#include "tilerail/tilerail.hpp"

namespace tilerail::api {

/// The state of a context. Members lock, so that calls from several threads run one after
/// another. The errors are the same as of Context (tilerail.hpp).
class Session {
 public:
  Session(std::unique_ptr<Hardware> hardware, const ContextOptions& options);
  ~Session();  // waits for submitted runs before it destroys plans, copies and memory
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void set_policy(const std::string& name);
  void set_override(const std::string& assignment);
  void set_devices(const std::vector<int>& devices);
  void set_pageable(Pageable pageable);
  void set_plan_cache(const std::string& file);
  void register_memory(void* data, int64_t bytes);
  void unregister_memory(void* data);
  void* allocate_host(int64_t bytes, HostPages pages);
  void free_host(void* data);
  double host_rate(const void* data, int64_t bytes);
  void reserve(int64_t bytes);
  /// An input with elements of `element` bytes.
  void keep(const void* data, int64_t rows, int64_t cols, int64_t ld, int64_t element);
  void release(const void* data);

  /// C = alpha op(A) op(B) + beta C.
  void gemm(const GemmArguments& arguments, const GemmOptions& options = {});
  void synchronize();

  const Topology& topology() const { return topology_; }
  const std::string& topology_name() const { return topology_.name(); }
  std::vector<int> devices() const;
  std::string policy() const;
  size_t cached_plans() const;

 private:
  /// A call on the hardware: keeps out other calls, and restores the caller's state at
  /// its end.
  struct Entry {
    std::unique_lock<std::mutex> lock;
    std::shared_ptr<void> caller;
  };
  Entry enter() const {
    return {std::unique_lock{mutex_}, hardware_->keep_caller_state()};
  }
  std::vector<MemoryId> checked_devices(const std::vector<int>& devices) const;
  MemoryId place(const Matrix& matrix, const char* name) const;
  Matrices located(const GemmArguments& arguments, const GemmProblem& problem) const;
  void use(Policy policy);
  /// For kept inputs: replaces them, and their places and leading dimensions in the
  /// problem, by their copies.
  Copies take_kept(Matrices& matrices, GemmProblem& problem) const;
  struct CachedPlan {
    std::unique_ptr<BoundPlan> bound;
    PlanInfo info;
    bool single_kernel = false;
  };
  CachedPlan& plan_for(const GemmProblem& problem, GemmTimes& times);
  CachedPlan bound(const GemmProblem& problem);
  std::vector<int> users() const;
  /// Runs the cached plan or a new one. Throws MemoryShortage before anything has run.
  void call(const GemmProblem& problem, const Matrices& matrices, const Copies& copies,
            const GemmOptions& options, GemmTimes& times);
  RunSeconds run(CachedPlan& cached, void* stream, const Matrices& matrices,
                 const Copies& copies, GemmTimes& times);
  RunSeconds submit(CachedPlan& cached, void* stream, const Matrices& matrices,
                    const Copies& copies);
  void after_runs(const std::function<void()>& work);

  mutable std::mutex mutex_;
  std::unique_ptr<Hardware> hardware_;
  Topology topology_;
  std::vector<MemoryId> devices_;
  Policy policy_;
  std::string policy_name_;  // its name, the key of plans in every call
  CallPlanner planner_;      // keeps a reference to the topology
  Pageable pageable_;
  KeptMatrices kept_;  // destroyed before the hardware
  LruCache<Signature, CachedPlan>
      plans_;  // destroyed before the hardware, to which its plans are bound
};

}  // namespace tilerail::api
