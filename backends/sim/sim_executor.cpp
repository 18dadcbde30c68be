#include "backends/sim/sim_executor.hpp"

#include <fmt/format.h>

#include <simgrid/s4u.hpp>

#include <simgrid/kernel/resource/Model.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "backends/sim/simgrid_engine.hpp"
#include "backends/sim/simgrid_versions.hpp"
#include "plan/validate.hpp"

namespace tilerail {
namespace {

namespace s4u = simgrid::s4u;
using SimGridActivity = simgrid::kernel::activity::ActivityImpl;

/// All inputs of a platform as a list of numbers.
std::vector<double> fingerprint(const Topology& topology,
                                const std::set<FlowRoute>& routes) {
  std::vector<double> numbers;
  const auto add = [&](auto... more) { (numbers.push_back(double(more)), ...); };
  add(topology.memories().size(), topology.links().size());
  for (const Link& link : topology.links()) add(link.bandwidth.value);
  for (const CapacityGroup& group : topology.groups()) {
    for (const auto* side : {&group.forward, &group.backward}) {
      add(side->size());
      for (const LinkId id : *side) add(id.value);
    }
    for (const auto* curve : {&group.capacity, &group.both_busy}) {
      add(*curve ? (*curve)->points.size() : 0);
      if (!*curve) continue;
      for (const auto& point : (*curve)->points) add(point.flows, point.rate.value);
    }
    add(group.forward_share.value_or(-1));
  }
  for (const FlowRoute& route : routes) {
    const auto path = topology.links_on(route.src, route.dst);
    add(route.src.value, route.dst.value, route.cap.value_or(Rate{-1}).value);
    add(topology.parts(route.src, route.dst), path.size());
    for (const Topology::LinkUse& use : path) add(use.link.value, use.parts);
  }
  return numbers;
}

/// A machine as hosts, links and routes of SimGrid. Its links have zero latency, because
/// SimGrid would weight the shares of flows by latency. The caller waits for the latency
/// before it starts a flow.
class Platform {
 public:
  struct Route {
    s4u::Host *from, *to;
    std::vector<Topology::GroupUse> groups;
    double demand = 0;  // B/s of a flow alone
    int parts = 1;      // number of equal parts of its bytes
  };

  Platform(const Topology& topology, const std::set<FlowRoute>& routes) {
    for (const FlowRoute& route : routes)
      unit_ = std::lcm(unit_, topology.parts(route.src, route.dst));
    for (const Memory& memory : topology.memories()) hosts_.push_back(new_host(memory));
    for (const Link& link : topology.links())
      links_.push_back(new_link(link.bandwidth.value * unit_));
    for (const CapacityGroup& group : topology.groups()) add_group(group, topology);
    for (const FlowRoute& route : routes) add_route(route, topology);
    zone_.seal();
  }

  /// The platform of this machine with these routes, without flows. Platforms are created
  /// on first use and kept, because SimGrid cannot delete them. Machines with equal
  /// fingerprints share a platform.
  static Platform& of(const Topology& topology, std::span<const FlowRoute> routes) {
    static auto& known =
        *new std::map<std::vector<double>,
                      std::unique_ptr<Platform>>;  // lives as long as the engine
    const std::set<FlowRoute> distinct(routes.begin(), routes.end());
    auto& platform = known[fingerprint(topology, distinct)];
    if (!platform) platform = std::make_unique<Platform>(topology, distinct);
    for (Group& group : platform->groups_) group.now = {.unit = double(platform->unit_)};
    return *platform;
  }

  s4u::Host* gpu(MemoryId memory) const { return hosts_[memory.index()]; }
  const Route& route(const FlowRoute& route) const { return routes_.at(route); }

  /// Records that a flow on a route starts (+1) or ends (-1), which changes the load of
  /// the route's groups.
  void count(const Route& route, int change) {
    for (const auto& use : route.groups) {
      CapacityGroup::Load& load = groups_[use.group.index()].now;
      const double unit = change * (load.unit / route.parts),
                   demand = change * route.demand / route.parts;
      load.flows += use.parts * unit;
      load.forward += use.forward * unit;
      load.forward_demand += use.forward * demand;
      load.backward += use.backward * unit;
      load.backward_demand += use.backward * demand;
    }
  }

 private:
  /// A capacity group and its current flows. A flow counts once, regardless of the number
  /// of the group's links on its route.
  struct Group {
    CapacityGroup group;
    CapacityGroup::Load now = {};
    s4u::Link *all = nullptr, *forward = nullptr,
              *backward = nullptr;  // null: the side has no separate bound
  };

  s4u::Host* new_host(const Memory& memory) {
    // Speed 1: the work of a kernel is its seconds times its share of the GPU.
    return simgrid_versions::add_host(
        zone_, fmt::format("{} {} {}", zone_.get_name(), memory.name, names_++), 1.0);
  }

  s4u::Link* new_link(double bandwidth) {
    const std::string name = fmt::format("{} link {}", zone_.get_name(), names_++);
    return simgrid_versions::add_link(zone_, name, bandwidth)->set_latency(0.0)->seal();
  }

  void add_group(const CapacityGroup& group, const Topology& topology) {
    double most = 0;  // B/s, sum over its links; SimGrid requires a finite number
    for (const auto* side : {&group.forward, &group.backward})
      for (const LinkId id : *side) most += topology.link(id).bandwidth.value;
    Group& made = groups_.emplace_back(Group{group});
    const auto bounded = [&](Rate CapacityGroup::Bounds::*bound) {
      const double unit = unit_;
      return new_link(most * unit)
          ->set_sharing_policy(s4u::Link::SharingPolicy::NONLINEAR, [&made, bound, most,
                                                                     unit](double, int) {
            const CapacityGroup::Bounds bounds = made.group.bounds(made.now);
            return std::min(most, (bounds.*bound).value) * unit;
          });
    };
    if (group.forward_share) {
      made.forward = bounded(&CapacityGroup::Bounds::forward);
      made.backward = bounded(&CapacityGroup::Bounds::backward);
    }
    made.all = bounded(&CapacityGroup::Bounds::all);
  }

  void add_route(const FlowRoute& route, const Topology& topology) {
    const auto [src, dst, cap] = route;
    const auto uses = topology.groups_on(src, dst);
    const int parts = topology.parts(src, dst);
    std::vector<s4u::LinkInRoute> path;
    const auto add = [&](s4u::Link* link,
                         int crossing) {  // SimGrid counts repeated links of a route
      const int times = crossing * (unit_ / parts);
      path.insert(path.end(), size_t(times), s4u::LinkInRoute{link});
    };
    for (const auto& use : topology.links_on(src, dst))
      add(links_[use.link.index()], use.parts);
    for (const auto& use : uses) {
      const Group& group = groups_[use.group.index()];
      add(group.all, use.parts);
      if (group.forward) add(group.forward, use.forward);
      if (group.backward) add(group.backward, use.backward);
    }
    // SimGrid ignores the rate of a flow between hosts; a FATPIPE link bounds each flow
    // instead of the sum of flows.
    if (cap)
      path.emplace_back(
          new_link(cap->value)->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE));
    const Rate alone = topology.pair_rate(src, dst);
    const double demand = std::min(alone, cap.value_or(alone)).value;
    // SimGrid allows one route between two hosts, so the routes of a pair start at
    // different hosts of the memory.
    const bool is_first = joined_.emplace(src, dst).second;
    s4u::Host* const from =
        is_first ? hosts_[src.index()] : new_host(topology.memory(src));
    s4u::Host* const to = hosts_[dst.index()];
    simgrid_versions::add_route(zone_, *from, *to, path);
    routes_.emplace(route, Route{from, to, {uses.begin(), uses.end()}, demand, parts});
  }

  s4u::NetZone& zone_ = SimGridEngine::get().new_zone();
  int unit_ = 1;  // parts of a whole flow: a multiple of the parts of every route; scales
                  // the bandwidth of links
  std::vector<s4u::Host*> hosts_;  // by memory
  std::vector<s4u::Link*> links_;
  std::deque<Group> groups_;
  std::map<FlowRoute, Route> routes_;
  std::set<std::pair<MemoryId, MemoryId>> joined_;
  int names_ = 0;
};

/// One simulation of a machine in SimGrid. Each activity is created only when it can
/// start, because SimGrid is slow on prepared graphs. Limit: one simulation at a time per
/// process.
class SimGridMachine final : public SharedMachine {
 public:
  SimGridMachine(const Topology& topology, const Options& options, Listener& listener)
      : platform_{Platform::of(topology, options.routes)},
        listener_{listener},
        activities_(options.slots) {
    for (const FlowRoute& route : options.routes)
      routes_.push_back(&platform_.route(route));
    engine_.start(options.resolution, [this](bool woken) { time_advanced(woken); });
  }
  ~SimGridMachine() override { engine_.stop(); }

  double now() const override { return engine_.now(); }

  void start_flow(Slot slot, size_t number, uint64_t bytes) override {
    const Platform::Route& route = *routes_[number];
    platform_.count(route, +1);
    const s4u::CommPtr comm = s4u::Comm::sendto_init();
    comm->set_payload_size(bytes);
    comm->set_source(route.from);
    comm->set_destination(route.to);
    start(slot, comm, &route);
  }

  void start_kernel(Slot slot, MemoryId gpu, double seconds, double share) override {
    const s4u::ExecPtr exec = s4u::Exec::init();
    exec->set_flops_amount(seconds * share);
    exec->set_bound(share);
    exec->set_host(platform_.gpu(gpu));
    start(slot, exec, nullptr);
  }

  void wake_at(double date) override { engine_.wake_at(date); }
  void run() override { engine_.run(); }

 private:
  struct Activity {
    s4u::ActivityPtr handle;                 // SimGrid does not keep it alive
    const Platform::Route* route = nullptr;  // of a flow
  };

  /// Some versions of SimGrid have already started the activity when its host or route
  /// was set.
  template <class Handle>
  void start(Slot slot, const Handle& handle, const Platform::Route* route) {
    if (handle->get_state() != s4u::Activity::State::STARTED) handle->start();
    slot_of_.emplace(handle->get_impl(), slot);
    activities_[slot] = {handle, route};
  }

  /// SimGrid has marked all activities that end now and is about to remove them. (Its
  /// completion signals come one by one and, in some versions, only in the thread that
  /// created the engine.)
  void time_advanced(bool woken) {
    finished_.clear();
    std::vector<Slot> slots;
    for (auto* model : engine_.engine().get_all_models())
      for (const auto& action : *model->get_finished_action_set())
        if (const auto entry = slot_of_.find(action.get_activity());
            entry != slot_of_.end()) {
          slots.push_back(entry->second);
          slot_of_.erase(entry);
        }
    std::ranges::sort(slots);
    for (const Slot slot : slots) ended(slot);
    if (woken || !finished_.empty()) listener_.instant();
  }

  void ended(Slot slot) {
    const auto [handle, route] = std::exchange(activities_[slot], {});
    finished_.push_back(handle);
    if (route) platform_.count(*route, -1);
    listener_.activity_ended(slot);
  }

  SimGridEngine& engine_ = SimGridEngine::get();
  Platform& platform_;
  Listener& listener_;
  std::vector<const Platform::Route*> routes_;
  std::vector<Activity> activities_;                          // by slot
  std::unordered_map<const SimGridActivity*, Slot> slot_of_;  // of running activities
  std::vector<s4u::ActivityPtr> finished_;  // in use by SimGrid until time moves on
};

std::mutex one_simulation_at_a_time;  // SimGrid has one engine per process

std::unique_ptr<SharedMachine> make_machine(const Topology& topology,
                                            const SharedMachine::Options& options,
                                            SharedMachine::Listener& listener) {
  return std::make_unique<SimGridMachine>(topology, options, listener);
}

}  // namespace

SimExecutor::SimExecutor(Topology topology, SimOptions options)
    : topology_{std::move(topology)}, options_{options} {}

Timeline SimExecutor::execute(const Plan& plan) {
  validate(plan, topology_);
  const std::lock_guard lock{one_simulation_at_a_time};
  return {simulator_backend, content_hash(plan),
          simulate(plan, topology_, options_, make_machine)};
}

}  // namespace tilerail
