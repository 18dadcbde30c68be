#include "backends/sim/simgrid_machine.hpp"

#include <simgrid/s4u.hpp>

#include <simgrid/version.h>
#include <simgrid/kernel/Timer.hpp>
#include <simgrid/kernel/resource/Model.hpp>

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/sim/simgrid_engine.hpp"

namespace tilerail {
namespace {

namespace s4u = simgrid::s4u;

/// Flows on a capacity group now. A flow counts once, whatever number of the group's links it crosses.
struct GroupLoad {
  const CapacityGroup* group = nullptr;
  double most = 0;  // B/s that the group never exceeds; SimGrid wants a finite number
  int flows = 0, forward = 0, backward = 0;

  double bound() const { return std::min(most, group->bound(flows, forward > 0, backward > 0).value); }
};

/// What the links of a group carry together.
double link_sum(const CapacityGroup& group, const Topology& topology) {
  double sum = 0;
  for (const auto* side : {&group.forward, &group.backward})
    for (LinkId id : *side) sum += topology.link(id).bandwidth.value;
  return sum;
}

void connect_hosts(s4u::NetZone& zone, s4u::Host& src, s4u::Host& dst, const std::vector<s4u::LinkInRoute>& links) {
#if SIMGRID_VERSION >= 33500
  zone.add_route(&src, &dst, links, false);
#else
  zone.add_route(src.get_netpoint(), dst.get_netpoint(), nullptr, nullptr, links, false);
#endif
}

}  // namespace

struct SimGridMachine::Impl {
  struct Route {
    s4u::Host *from, *to;
    std::span<const Topology::GroupUse> groups;
  };
  struct Activity {
    s4u::ActivityPtr running;  // SimGrid does not keep it alive
    std::uint32_t route = no_route;
  };
  static constexpr std::uint32_t no_route = 0xFFFFFFFF;

  Impl(const Topology& t, const Options& options, Listener& l)
      : topology{t}, engine{options.resolution}, listener{l}, activities(options.slots) {
    build_platform();
    for (const FlowRoute& route : options.routes) add_route(route);
    seal();
    connect();
    current = this;
  }
  ~Impl() { current = nullptr; }

  void build_platform();
  s4u::Link* new_link(double bandwidth) {
    return zone->create_link("link " + std::to_string(link_count++), bandwidth)->set_latency(0.0);
  }
  void add_route(const FlowRoute& route);
  s4u::Host* end_of_route(MemoryId memory, int number);
  void seal();
  static void connect();
  void time_advanced();
  void activity_completed(const s4u::Activity& activity);
  void woken(double date);
  void count(std::uint32_t route, int change);

  static inline Impl* current = nullptr;  // the machine that SimGrid's process-wide signals go to

  const Topology& topology;
  SimGridEngine engine;
  Listener& listener;
  std::vector<Route> routes;
  s4u::NetZone* zone = nullptr;
  int link_count = 0;
  std::map<std::pair<MemoryId, MemoryId>, int> routes_between;
  std::map<std::pair<MemoryId, int>, s4u::Host*> more_hosts;  // of a memory, beyond the first
  std::vector<s4u::Host*> hosts;                              // by memory
  std::vector<s4u::Link*> links, group_links;                 // by link, by group
  std::vector<GroupLoad> loads;                               // by group
  std::vector<Activity> activities;                           // by slot; freed before the engine
  std::vector<s4u::ActivityPtr> ended;                        // in use by SimGrid until the next instant
  std::size_t still_to_end = 0;   // activities that end at this instant and are not yet reported
  std::optional<double> wake_up;  // the earliest one set
};

void SimGridMachine::Impl::build_platform() {
  zone = s4u::create_full_zone("machine");
  for (const Memory& memory : topology.memories()) hosts.push_back(zone->create_host(memory.name, 1.0));
  for (const Link& link : topology.links()) links.push_back(new_link(link.bandwidth.value));
  loads.resize(topology.groups().size());
  for (std::size_t i = 0; i < loads.size(); ++i) {
    loads[i].group = &topology.groups()[i];
    loads[i].most = link_sum(topology.groups()[i], topology);
    const GroupLoad* load = &loads[i];
    group_links.push_back(new_link(load->most));
    group_links[i]->set_sharing_policy(s4u::Link::SharingPolicy::NONLINEAR,
                                       [load](double, int) { return load->bound(); });
  }
}

/// SimGrid knows one route between two hosts and no rate of a single flow. Hence a route with a cap of its own leaves
/// from a host of its own, over a link that bounds each flow instead of their sum.
void SimGridMachine::Impl::add_route(const FlowRoute& route) {
  const auto [src, dst, cap] = route;
  std::vector<s4u::LinkInRoute> path;
  for (LinkId id : topology.route(src, dst)) path.emplace_back(links[id.index()]);
  for (const auto& use : topology.groups_on(src, dst)) path.emplace_back(group_links[use.group.index()]);
  if (cap) path.emplace_back(new_link(cap->value)->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE));
  if (src == dst) path.emplace_back(new_link(topology.kernels_of(src).memory_bandwidth.value().value));
  s4u::Host *from = end_of_route(src, routes_between[{src, dst}]++), *to = hosts[dst.index()];
  connect_hosts(*zone, *from, *to, path);
  routes.push_back({from, to, topology.groups_on(src, dst)});
}

s4u::Host* SimGridMachine::Impl::end_of_route(MemoryId memory, int number) {
  if (number == 0) return hosts[memory.index()];
  s4u::Host*& host = more_hosts[{memory, number}];
  if (!host) host = zone->create_host(topology.memory(memory).name + " #" + std::to_string(number + 1), 1.0);
  return host;
}

/// SimGrid seals the platform of a process's first engine only.
void SimGridMachine::Impl::seal() {
  for (s4u::Link* link : engine.get().get_all_links()) link->seal();
  zone->seal();
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
  for (const auto& use : routes[route].groups) {
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

void SimGridMachine::start_flow(Slot slot, std::size_t route, std::uint64_t bytes) {
  s4u::CommPtr comm = s4u::Comm::sendto_init();
  comm->set_payload_size(bytes);
  comm->set_data(reinterpret_cast<void*>(std::uintptr_t{slot}));
  impl_->count(static_cast<std::uint32_t>(route), +1);
  impl_->activities[slot] = {comm, static_cast<std::uint32_t>(route)};
  // Last, since some versions of SimGrid start a communication as soon as they know its ends.
  comm->set_source(impl_->routes[route].from);
  comm->set_destination(impl_->routes[route].to);
  if (comm->get_state() != s4u::Activity::State::STARTED) comm->start();
}

void SimGridMachine::start_kernel(Slot slot, MemoryId gpu, double seconds, double share) {
  // A GPU does one unit of work a second; at most `share` of it goes to this kernel.
  s4u::ExecPtr exec = s4u::Exec::init();
  exec->set_flops_amount(seconds * share);
  exec->set_bound(share);
  exec->set_data(reinterpret_cast<void*>(std::uintptr_t{slot}));
  impl_->activities[slot] = {exec, Impl::no_route};
  exec->set_host(impl_->hosts[gpu.index()]);
  if (exec->get_state() != s4u::Activity::State::STARTED) exec->start();
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
