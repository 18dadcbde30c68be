#include "backends/sim/simgrid_machine.hpp"

#include <simgrid/s4u.hpp>

#include <simgrid/version.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Model.hpp>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/sim/simgrid_engine.hpp"

namespace tilerail {
namespace {

namespace s4u = simgrid::s4u;

constexpr double unbounded = 1e30;  // B/s; SimGrid wants a finite number

/// Flows on a capacity group now. A flow counts once, whatever number of the group's links it crosses.
struct GroupLoad {
  const CapacityGroup* group = nullptr;
  int flows = 0, forward = 0, backward = 0;

  double bound() const { return std::min(unbounded, group->bound(flows, forward > 0, backward > 0).value); }
};

double largest_bound(const CapacityGroup& group) {
  double largest = group.capacity ? 0 : unbounded;
  for (const auto* curve : {&group.capacity, &group.both_busy})
    if (*curve)
      for (const auto& point : (*curve)->points) largest = std::max(largest, point.rate.value);
  return largest;
}

void add_route(s4u::NetZone& zone, s4u::Host& src, s4u::Host& dst, const std::vector<s4u::LinkInRoute>& links) {
#if SIMGRID_VERSION >= 33500
  zone.add_route(&src, &dst, links, false);
#else
  zone.add_route(src.get_netpoint(), dst.get_netpoint(), nullptr, nullptr, links, false);
#endif
}

}  // namespace

struct SimGridMachine::Impl {
  struct Activity {
    s4u::ActivityPtr running;  // SimGrid does not keep it alive
    std::uint32_t route = no_route;
  };
  static constexpr std::uint32_t no_route = 0xFFFFFFFF;

  Impl(const Topology& t, const Options& options, Listener& l)
      : topology{t}, engine{options.resolution}, listener{l}, routes(options.routes.begin(), options.routes.end()) {
    activities.resize(options.slots);
    build_platform();
    connect();
    current = this;
  }
  ~Impl() { current = nullptr; }

  void build_platform();
  s4u::Link* new_link(const std::string& name, double bandwidth) {
    return zone->create_link(name, bandwidth)->set_latency(0.0);
  }
  void build_routes();
  static void connect();
  void time_advanced();
  void activity_completed(const s4u::Activity& activity);
  void woken(double date);
  void count(std::uint32_t route, int change);

  static inline Impl* current = nullptr;  // the machine that SimGrid's process-wide signals go to

  const Topology& topology;
  SimGridEngine engine;
  Listener& listener;
  std::vector<std::pair<MemoryId, MemoryId>> routes;
  s4u::NetZone* zone = nullptr;
  std::vector<s4u::Host*> hosts;               // by memory
  std::vector<s4u::Link*> links, group_links;  // by link, by group
  std::vector<GroupLoad> loads;                // by group
  std::vector<Activity> activities;            // by slot; freed before the engine
  std::vector<s4u::ActivityPtr> ended;         // in use by SimGrid until the next instant
  std::size_t still_to_end = 0;                // activities that end at this instant and are not yet reported
  std::optional<double> wake_up;               // the earliest one set
};

void SimGridMachine::Impl::build_platform() {
  zone = s4u::create_full_zone("machine");
  for (const Memory& memory : topology.memories()) hosts.push_back(zone->create_host(memory.name, 1.0));
  for (const Link& link : topology.links()) links.push_back(new_link(link.name, link.bandwidth.value));
  loads.resize(topology.groups().size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    loads[i].group = &topology.groups()[i];
    const GroupLoad* load = &loads[i];
    group_links.push_back(new_link("group " + std::to_string(i), largest_bound(*load->group)));
    group_links[i]->set_sharing_policy(s4u::Link::SharingPolicy::NONLINEAR,
                                       [load](double, int) { return load->bound(); });
  }
  build_routes();
  // SimGrid seals the platform of a process's first engine only.
  for (s4u::Link* link : links) link->seal();
  for (s4u::Link* link : group_links) link->seal();
  zone->seal();
}

void SimGridMachine::Impl::build_routes() {
  for (const auto& [src, dst] : routes) {
    std::vector<s4u::LinkInRoute> path;
    for (LinkId id : topology.route(src, dst)) path.emplace_back(links[id.index()]);
    for (const auto& use : topology.groups_on(src, dst)) path.emplace_back(group_links[use.group.index()]);
    if (src == dst) {
      const double bandwidth = topology.kernels_of(src).memory_bandwidth.value().value;
      s4u::Link* memory = new_link("memory " + std::to_string(src.value), bandwidth);
      memory->seal();
      path.emplace_back(memory);
    }
    add_route(*zone, *hosts[src.index()], *hosts[dst.index()], path);
  }
}

/// SimGrid's signals live as long as the process and cannot be disconnected, so they are connected once.
void SimGridMachine::Impl::connect() {
  static bool connected = false;
  if (std::exchange(connected, true)) return;
  const auto completed = [](const auto& activity) {
    if (current) current->activity_completed(activity);
  };
  s4u::Comm::on_completion_cb(completed);
  // Older versions have one signal for all kinds of activities, newer ones a signal a kind.
  if constexpr (!std::is_same_v<decltype(&s4u::Comm::on_completion_cb), decltype(&s4u::Exec::on_completion_cb)>)
    s4u::Exec::on_completion_cb(completed);
  s4u::Engine::on_time_advance_cb([](double) {
    if (current) current->time_advanced();
  });
}

/// Called before SimGrid reports what ends at the new time.
void SimGridMachine::Impl::time_advanced() {
  ended.clear();
  still_to_end = 0;
  for (auto* model : engine.get().get_all_models()) still_to_end += model->get_finished_action_set()->size();
}

void SimGridMachine::Impl::activity_completed(const s4u::Activity& activity) {
  const auto slot = static_cast<Slot>(reinterpret_cast<std::uintptr_t>(activity.get_data<void>()));
  Activity& here = activities[slot];
  ended.push_back(std::move(here.running));
  if (here.route != no_route) count(here.route, -1);
  listener.activity_ended(slot);
  if (--still_to_end == 0) listener.instant();
}

void SimGridMachine::Impl::woken(double date) {
  if (wake_up == date) wake_up.reset();
  if (still_to_end == 0) listener.instant();
}

void SimGridMachine::Impl::count(std::uint32_t route, int change) {
  const auto& [src, dst] = routes[route];
  for (const auto& use : topology.groups_on(src, dst)) {
    GroupLoad& load = loads[use.group.index()];
    load.flows += change;
    load.forward += use.forward ? change : 0;
    load.backward += use.backward ? change : 0;
  }
}

SimGridMachine::SimGridMachine(const Topology& topology, const Options& options, Listener& listener)
    : impl_{std::make_unique<Impl>(topology, options, listener)} {}

SimGridMachine::~SimGridMachine() = default;

double SimGridMachine::now() const { return impl_->engine.now(); }

void SimGridMachine::start_flow(Slot slot, std::size_t route, std::uint64_t bytes, std::optional<Rate> rate_cap) {
  const auto& [src, dst] = impl_->routes[route];
  s4u::CommPtr comm = s4u::Comm::sendto_init(impl_->hosts[src.index()], impl_->hosts[dst.index()]);
  comm->set_payload_size(bytes);
  if (rate_cap) comm->set_rate(rate_cap->value);
  comm->set_data(reinterpret_cast<void*>(std::uintptr_t{slot}));
  impl_->count(static_cast<std::uint32_t>(route), +1);
  impl_->activities[slot] = {comm, static_cast<std::uint32_t>(route)};
  comm->start();
}

void SimGridMachine::start_kernel(Slot slot, MemoryId gpu, double seconds, double share) {
  // A GPU does one unit of work a second; at most `share` of it goes to this kernel.
  s4u::ExecPtr exec = s4u::Exec::init();
  exec->set_host(impl_->hosts[gpu.index()]);
  exec->set_flops_amount(seconds * share);
  exec->set_bound(share);
  exec->set_data(reinterpret_cast<void*>(std::uintptr_t{slot}));
  impl_->activities[slot] = {exec, Impl::no_route};
  exec->start();
}

void SimGridMachine::wake_at(double date) {
  if (impl_->wake_up && *impl_->wake_up <= date) return;
  impl_->wake_up = date;
  const double clock = s4u::Engine::get_clock();
  simgrid::kernel::timer::Timer::set(std::max(clock, clock + (date - now())),
                                     [impl = impl_.get(), date] { impl->woken(date); });
}

void SimGridMachine::run() { impl_->engine.get().run(); }

}  // namespace tilerail
