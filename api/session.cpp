#include "api/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <utility>

#include "model/base/contains.hpp"
#include "model/base/error.hpp"
#include "model/machine/topology_toml.hpp"
#include "sched/policy/fields.hpp"
#include "study/planning/find_machine.hpp"
#include "study/planning/tuned_plans.hpp"

namespace tilerail::api {
namespace {

Topology machine_of(const Hardware& hardware, const ContextOptions& options) {
  if (options.machine) return *options.machine;
  const char* const named = std::getenv("TILERAIL_TOPOLOGY");
  const std::string wanted =
      options.topology.empty() && named != nullptr ? named : options.topology;
  return wanted.empty() ? hardware.describe()
                        : load_topology(study::find_machine(wanted).string());
}

/// The preset without simulating candidates, because a first call waits for its plan.
Policy estimated_preset(const std::string& name) {
  Policy policy = preset(name);
  policy.effort = Effort::fast;
  return policy;
}

Policy policy_of(const ContextOptions& options) {
  Policy policy = estimated_preset(options.policy);
  for (const std::string& assignment : options.overrides) try {
      apply_override(policy, assignment);
    } catch (const InputError& error) {
      throw error.about("overrides");
    }
  return policy;
}

}  // namespace

Session::Session(std::unique_ptr<Hardware> hardware, const ContextOptions& options)
    : hardware_{std::move(hardware)},
      topology_{machine_of(*hardware_, options)},
      planner_{topology_},
      lanes_{*hardware_, topology_},
      most_plans_{options.cached_plans} {
  Settings first{checked_devices(options.devices),
                 policy_of(options),
                 "",
                 options.pageable,
                 std::make_shared<study::TunedPlans>(options.plan_cache, topology_),
                 std::make_shared<Plans>(most_plans_)};
  first.policy_name = name_of(first.policy);
  if (topology_.hosts().empty())
    throw fault_of("topology",
                   fmt::format("machine '{}' has no host memory", topology_.name()));
  settings_ = std::make_shared<const Settings>(std::move(first));
  if (options.arena_bytes != 0) reserve(options.arena_bytes);
}

Session::~Session() {
  try {
    lanes_.finish(true);
  } catch (const std::exception&) {  // a destructor cannot report it
  }
}

std::vector<MemoryId> Session::checked_devices(const std::vector<int>& devices) const {
  const int there = hardware_->devices();
  std::vector<MemoryId> gpus;
  if (devices.empty()) {
    for (const MemoryId gpu : topology_.gpus())
      if (topology_.processor(gpu).device < there) gpus.push_back(gpu);
    if (gpus.empty())
      throw HardwareError{
          fmt::format("no GPU of machine '{}' is one of the {} CUDA devices",
                      topology_.name(), there)};
    return gpus;
  }
  for (const int device : devices) {
    if (device < 0) throw out_of_range("devices", std::to_string(device), "0 or more");
    if (device >= there)
      throw HardwareError{
          fmt::format("device {}: this machine has {} CUDA devices", device, there)};
    const auto gpu = topology_.find_gpu(device);
    if (!gpu)
      throw InputError{"devices", std::to_string(device),
                       fmt::format("is not a GPU of machine '{}'", topology_.name())};
    if (contains(gpus, *gpu)) throw given_twice("devices", std::to_string(device));
    gpus.push_back(*gpu);
  }
  std::ranges::sort(gpus);  // as in the command: the order has no meaning
  return gpus;
}

std::shared_ptr<const Session::Settings> Session::settings() const {
  const std::lock_guard lock{mutex_};
  return settings_;
}

void Session::change(const std::function<void(Settings&)>& how) {
  std::shared_ptr<const Settings> before;  // destroyed without the lock
  const std::lock_guard lock{mutex_};
  auto changed = std::make_shared<Settings>(*settings_);
  how(*changed);
  changed->policy_name = name_of(changed->policy);
  before = std::exchange(settings_, std::move(changed));
}

void Session::set_policy(const std::string& name) {
  change([&](Settings& settings) { settings.policy = estimated_preset(name); });
}

void Session::set_override(const std::string& assignment) {
  change([&](Settings& settings) { apply_override(settings.policy, assignment); });
}

void Session::set_devices(const std::vector<int>& devices) {
  change(
      [gpus = checked_devices(devices)](Settings& settings) { settings.devices = gpus; });
}

void Session::set_pageable(Pageable pageable) {
  change([&](Settings& settings) { settings.pageable = pageable; });
}

void Session::set_plan_cache(const std::string& file) {
  const auto tuned = file.empty() ? std::make_shared<study::TunedPlans>()
                                  : std::make_shared<study::TunedPlans>(file, topology_);
  change([&](Settings& settings) {
    settings.tuned = tuned;
    settings.plans = std::make_shared<Plans>(most_plans_);
  });
}

void Session::register_memory(void* data, int64_t bytes) {
  if (data == nullptr || bytes <= 0)
    throw fault_of("memory to register", "is empty", "an address and at least 1 byte");
  const auto caller = hardware_->keep_caller_state();
  hardware_->register_memory(data, bytes);
}

/// `work` releases memory even if a run has failed; then the failure of the run is
/// thrown.
void Session::after_runs(const std::function<void()>& work) {
  std::exception_ptr failure;
  try {
    lanes_.finish(true);
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  try {
    work();
  } catch (const std::exception&) {
    if (!failure) throw;
  }
  if (failure) std::rethrow_exception(failure);
}

void Session::unregister_memory(void* data) {
  const auto caller = hardware_->keep_caller_state();
  after_runs([&] { hardware_->unregister_memory(data); });
}

void* Session::allocate_host(int64_t bytes, HostPages pages) {
  if (bytes <= 0) throw out_of_range("bytes", std::to_string(bytes), "at least 1");
  const auto caller = hardware_->keep_caller_state();
  return hardware_->allocate_host(bytes, pages);
}

void Session::free_host(void* data) {
  const auto caller = hardware_->keep_caller_state();
  after_runs([&] { hardware_->free_host(data); });
}

double Session::host_rate(const void* data, int64_t bytes) {
  if (data == nullptr || bytes <= 0)
    throw fault_of("memory to read", "is empty", "an address and at least 1 byte");
  const std::vector<int> readers = devices();
  const auto caller = hardware_->keep_caller_state();
  return hardware_->host_rate(data, bytes, readers);
}

void Session::reserve(int64_t bytes) {
  if (bytes < 0) throw out_of_range("bytes", std::to_string(bytes), "0 or more");
  const auto caller = hardware_->keep_caller_state();
  const auto now = settings();
  // If plans choose the number of streams: the largest number.
  const int streams = now->policy.choices.compute_streams > 0
                          ? now->policy.choices.compute_streams
                          : most_automatic_streams;
  lanes_.hold_with_memory()->lane->reserve(now->devices, bytes, streams);
}

std::vector<int> Session::devices() const { return users(*settings()); }

std::string Session::policy() const { return settings()->policy_name; }

size_t Session::cached_plans() const { return settings()->plans->size(); }

}  // namespace tilerail::api
