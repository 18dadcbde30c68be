#include "backends/sim/simgrid_machine.hpp"

#include <simgrid/s4u.hpp>

#include <simgrid/kernel/resource/Model.hpp>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backends/sim/simgrid_engine.hpp"
#include "backends/sim/simgrid_platform.hpp"

namespace tilerail {
namespace {

namespace s4u = simgrid::s4u;
using SimGridActivity = simgrid::kernel::activity::ActivityImpl;

}  // namespace

struct SimGridMachine::Impl {
  struct Activity {
    s4u::ActivityPtr handle;                        // SimGrid does not keep it alive
    const SimGridPlatform::Route* route = nullptr;  // of a flow
  };

  Impl(const Topology& topology, const Options& options, Listener& l)
      : engine{SimGridEngine::get()},
        platform{SimGridPlatform::of(topology, options.routes)},
        listener{l},
        activities(options.slots) {
    for (const FlowRoute& route : options.routes) routes.push_back(&platform.route(route));
    engine.start(options.resolution, [this](bool woken) { time_advanced(woken); });
  }
  ~Impl() { engine.stop(); }

  template <class Handle>
  void start(Slot slot, const Handle& handle, const SimGridPlatform::Route* route);
  void time_advanced(bool woken);
  void ended(Slot slot);

  SimGridEngine& engine;
  SimGridPlatform& platform;
  Listener& listener;
  std::vector<const SimGridPlatform::Route*> routes;
  std::vector<Activity> activities;                          // by slot
  std::unordered_map<const SimGridActivity*, Slot> slot_of;  // of what runs
  std::vector<s4u::ActivityPtr> finished;                    // in use by SimGrid until time moves on
  std::vector<Slot> slots;                                   // of them
};

/// Some versions of SimGrid have started the activity as soon as they knew where it runs.
template <class Handle>
void SimGridMachine::Impl::start(Slot slot, const Handle& handle, const SimGridPlatform::Route* route) {
  if (handle->get_state() != s4u::Activity::State::STARTED) handle->start();
  slot_of.emplace(handle->get_impl(), slot);
  activities[slot] = {handle, route};
}

/// SimGrid has marked all that ends now and is about to clean it up. (Its signals of completion come one by one and,
/// in some versions, only in the thread that made the engine.)
void SimGridMachine::Impl::time_advanced(bool woken) {
  finished.clear();
  slots.clear();
  for (auto* model : engine.engine().get_all_models())
    for (const auto& action : *model->get_finished_action_set())
      if (const auto entry = slot_of.find(action.get_activity()); entry != slot_of.end()) {
        slots.push_back(entry->second);
        slot_of.erase(entry);
      }
  std::ranges::sort(slots);
  for (const Slot slot : slots) ended(slot);
  if (woken || !finished.empty()) listener.instant();
}

void SimGridMachine::Impl::ended(Slot slot) {
  const auto [handle, route] = std::exchange(activities[slot], {});
  finished.push_back(handle);
  if (route) platform.count(*route, -1);
  listener.activity_ended(slot);
}

SimGridMachine::SimGridMachine(const Topology& topology, const Options& options, Listener& listener)
    : impl_{std::make_unique<Impl>(topology, options, listener)} {}

SimGridMachine::~SimGridMachine() = default;

double SimGridMachine::now() const { return impl_->engine.now(); }

void SimGridMachine::start_flow(Slot slot, size_t route, uint64_t bytes) {
  const SimGridPlatform::Route& way = *impl_->routes[route];
  impl_->platform.count(way, +1);
  const s4u::CommPtr comm = s4u::Comm::sendto_init();
  comm->set_payload_size(bytes);
  comm->set_source(way.from);
  comm->set_destination(way.to);
  impl_->start(slot, comm, &way);
}

void SimGridMachine::start_kernel(Slot slot, MemoryId gpu, double seconds, double share) {
  const s4u::ExecPtr exec = s4u::Exec::init();
  exec->set_flops_amount(seconds * share);
  exec->set_bound(share);
  exec->set_host(impl_->platform.gpu(gpu));
  impl_->start(slot, exec, nullptr);
}

void SimGridMachine::wake_at(double date) { impl_->engine.wake_at(date); }

void SimGridMachine::run() { impl_->engine.run(); }

}  // namespace tilerail
