#pragma once

#include <array>
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
#include "api/lanes.hpp"
#include "api/shared_cache.hpp"
#include "api/signature.hpp"
#include "model/machine/topology.hpp"
#include "sched/policy/policy.hpp"
#include "tilerail/tilerail.hpp"

namespace tilerail::api {

/// The state of a context. A call uses the settings at its begin and holds a lane during
/// its run, and no lock meanwhile. The errors are the same as of Context (tilerail.hpp).
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
  /// A plan and its bindings. It lives until the last call that uses it has ended.
  struct CachedPlan {
    explicit CachedPlan(PlannedCall planned, bool in_first_lane = false);

    PlannedCall call;
    bool single_kernel;
    bool first_lane;  // memory did not suffice for it in another lane
    std::array<std::unique_ptr<BoundPlan>, most_lanes>
        bound;  // by lane, changed by its holder; null: not yet bound
  };
  using Plans = SharedCache<Signature, std::shared_ptr<CachedPlan>>;
  /// Immutable once calls can see it; changes replace it. A call holds it until its run
  /// has ended, and with it the kept copies.
  struct Settings {
    std::vector<MemoryId> devices;
    Policy policy;
    std::string policy_name;  // its name, the key of plans in every call
    Pageable pageable;
    std::shared_ptr<const study::TunedPlans> tuned;
    std::shared_ptr<Plans> plans;
    KeptMatrices kept = {};
  };
  struct Call {
    std::shared_ptr<const Settings> settings;
    const GemmProblem& problem;
    const Matrices& matrices;
    const Copies& copies;
    const GemmOptions& options;
    GemmTimes& times;
  };
  std::shared_ptr<const Settings> settings() const;
  void change(const std::function<void(Settings&)>& how);
  std::vector<MemoryId> checked_devices(const std::vector<int>& devices) const;
  MemoryId place(const Matrix& matrix, const char* name) const;
  Matrices located(const GemmArguments& arguments, const GemmProblem& problem) const;
  /// For kept inputs: replaces them, and their places and leading dimensions in the
  /// problem, by their copies.
  Copies take_kept(const Settings& settings, Matrices& matrices,
                   GemmProblem& problem) const;
  /// Throws MemoryShortage before anything has run.
  void execute(const Call& call, CachedPlan& plan, Lanes::Slot& lane);
  RunSeconds run(const Call& call, const CachedPlan& plan, Lanes::Slot& lane);
  /// With the memory of all lanes; if this plan does not fit, with a plan for the free
  /// memory.
  void execute_in_first_lane(const Call& call, const Signature& signature,
                             const CachedPlan& plan);
  std::vector<int> users(const Settings& settings) const;
  void after_runs(const std::function<void()>& work);

  std::unique_ptr<Hardware> hardware_;
  Topology topology_;
  CallPlanner planner_;  // keeps a reference to the topology
  Lanes lanes_;          // destroyed before the hardware
  const size_t most_plans_;
  mutable std::mutex mutex_;  // held for exchanges of the next member only
  std::shared_ptr<const Settings>
      settings_;  // destroyed before the lanes, to which its plans are bound
};

}  // namespace tilerail::api
