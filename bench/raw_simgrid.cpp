#include "bench/raw_simgrid.hpp"

#include <simgrid/s4u.hpp>

#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "backends/sim/simgrid_versions.hpp"

namespace tilerail::bench {
namespace {

namespace s4u = simgrid::s4u;

class RawRun {
 public:
  RawRun(const Plan& plan, const Topology& topology, bool latency)
      : plan_{plan}, topology_{topology} {
    build_platform(latency);
    link_operations();
  }

  double run() {
    std::vector<uint32_t> first;
    for (uint32_t i = 0; i < plan_.ops.size(); ++i)
      if (waits_for_[i] == 0) first.push_back(i);
    for (uint32_t i : first) start(i);
    engine_.run();
    return last_;
  }

  void completed(uint32_t i) {
    last_ = s4u::Engine::get_clock();
    ended_ = std::move(running_[plan_.ops[i].queue.index()]);
    for (uint32_t at = begin_[i]; at < begin_[i + 1]; ++at)
      if (--waits_for_[next_[at]] == 0) start(next_[at]);
  }

 private:
  void build_platform(bool latency);
  void link_operations();
  void start(uint32_t i);

  const Plan& plan_;
  const Topology& topology_;
  s4u::Engine engine_{"raw"};
  std::vector<s4u::Host*> hosts_;
  std::vector<uint32_t> begin_, next_, waits_for_;
  std::vector<s4u::ActivityPtr> running_{plan_.queues.size()};  // by queue
  s4u::ActivityPtr ended_;  // in use by SimGrid until its callback has returned
  double last_ = 0;
};

void RawRun::build_platform(bool latency) {
  s4u::Engine::set_config("network/model", std::string{"CM02"});
  s4u::Engine::set_config("network/TCP-gamma", -1.0);
  s4u::Engine::set_config("network/crosstraffic", false);
  s4u::NetZone& zone = *simgrid_versions::root_zone(engine_);
  for (const Memory& memory : topology_.memories())
    hosts_.push_back(simgrid_versions::add_host(zone, memory.name, 1.0));
  std::vector<s4u::Link*> links, groups;
  for (const Link& link : topology_.links()) {
    links.push_back(simgrid_versions::add_link(zone, link.name, link.bandwidth.value));
    links.back()->set_latency(latency ? link.latency.value : 0.0)->seal();
  }
  for (const CapacityGroup& group : topology_.groups()) {
    const auto& curve = group.capacity ? group.capacity : group.both_busy;
    s4u::Link* link =
        simgrid_versions::add_link(zone, "group " + group.name, curve->saturated().value);
    groups.push_back(link->set_latency(0.0)->seal());
  }
  const size_t n = topology_.memories().size();
  for (size_t pair = 0; pair < n * n; ++pair) {
    const MemoryId src{pair / n}, dst{pair % n};
    if (src == dst) continue;
    std::vector<s4u::LinkInRoute> path;
    for (LinkId id : topology_.route(src, dst)) path.emplace_back(links[id.index()]);
    for (const auto& use : topology_.groups_on(src, dst))
      path.emplace_back(groups[use.group.index()]);
    simgrid_versions::add_route(zone, *hosts_[src.index()], *hosts_[dst.index()], path);
  }
  zone.seal();
}

void RawRun::link_operations() {
  const size_t n = plan_.ops.size();
  begin_.assign(n + 1, 0), waits_for_.assign(n, 0);
  const auto for_each_edge = [&](auto visit) {
    std::vector<int32_t> last(plan_.queues.size(), -1);
    for (uint32_t i = 0; i < n; ++i) {
      for (OpId dep : plan_.deps_of(OpId{size_t{i}})) visit(uint32_t(dep.value), i);
      auto& previous = last[plan_.ops[i].queue.index()];
      if (previous >= 0) visit(uint32_t(previous), i);
      previous = int32_t(i);
    }
  };
  for_each_edge(
      [&](uint32_t before, uint32_t after) { ++begin_[before], ++waits_for_[after]; });
  for (size_t i = 1; i <= n; ++i) begin_[i] += begin_[i - 1];
  next_.resize(begin_.back());
  for_each_edge(
      [&](uint32_t before, uint32_t after) { next_[--begin_[before]] = after; });
}

void RawRun::start(uint32_t i) {
  const Op& op = plan_.ops[i];
  const Queue& queue = plan_.queue(op.queue);
  s4u::ActivityPtr& here = running_[op.queue.index()];
  if (op.kind == OpKind::copy && queue.src != queue.dst) {
    s4u::CommPtr comm = s4u::Comm::sendto_init();
    comm->set_payload_size(uint64_t(copy_bytes(plan_, op).value));
    comm->set_data(reinterpret_cast<void*>(uintptr_t{i}));
    here = comm;
    comm->set_source(hosts_[queue.src.index()]);
    comm->set_destination(hosts_[queue.dst.index()]);
    if (comm->get_state() != s4u::Activity::State::STARTED) comm->start();
    return;
  }
  const KernelTimes& kernels = topology_.kernels_of(queue.dst);
  const View& y = plan_.result(op);
  const double share = kernels.occupancy(y.rows, y.cols);
  const double seconds =
      op.kind == OpKind::gemm
          ? kernels
                .gemm_time(y.rows, y.cols, gemm_depth(op, plan_.operands_of(op)),
                           plan_.dtype(), op.trans_a, op.trans_b)
                .value
      : op.kind == OpKind::axpby
          ? kernels.axpby_time(y.rows, y.cols, plan_.dtype(), 2, 1).value
          : 1e-9;
  s4u::ExecPtr exec = s4u::Exec::init();
  exec->set_flops_amount(seconds * share)
      ->set_bound(share)
      ->set_data(reinterpret_cast<void*>(uintptr_t{i}));
  here = exec;
  exec->set_host(hosts_[queue.dst.index()]);
  if (exec->get_state() != s4u::Activity::State::STARTED) exec->start();
}

}  // namespace

double run_raw(const Plan& plan, const Topology& topology, bool latency) {
  xbt_log_control_set("root.thresh:critical");
  RawRun run{plan, topology, latency};
  const auto completed = [&run](const auto& activity) {
    run.completed(
        uint32_t(reinterpret_cast<uintptr_t>(activity.template get_data<void>())));
  };
  s4u::Comm::on_completion_cb(completed);
  // Older versions have one signal for all kinds of activities, newer versions one signal
  // per kind.
  if constexpr (!std::is_same_v<decltype(&s4u::Comm::on_completion_cb),
                                decltype(&s4u::Exec::on_completion_cb)>)
    s4u::Exec::on_completion_cb(completed);
  return run.run();
}

}  // namespace tilerail::bench
