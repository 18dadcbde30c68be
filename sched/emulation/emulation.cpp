#include <algorithm>
#include <cmath>

#include "model/base/error.hpp"
#include "model/published/library_workload.hpp"
#include "sched/choose/search.hpp"
#include "sched/choose/workload_gemm.hpp"
#include "sched/emulation/blasx_tasks.hpp"
#include "sched/emulation/profile.hpp"
#include "sched/emulation/xkblas_tasks.hpp"

namespace tilerail {

Grid xkblas_grid(int gpus) {
  int rows = int(std::sqrt(gpus)) + 1;
  while (gpus % rows != 0) --rows;
  return {rows, gpus / rows};
}

Grid LibraryEmulation::grid(int gpus) const { return xkblas_grid(gpus); }

std::shared_ptr<const Emulation> LibraryEmulation::idle() const {
  return std::make_shared<LibraryEmulation>();
}

/// Uses the devices and the shares of the best workload by PARALiA's model.
std::optional<Plan> LibraryEmulation::selected_plan(const Question& question,
                                                    const Metric& metric) const {
  if (profile.select_by == SelectBy::plans) return std::nullopt;
  const WorkloadProblem workload = workload_problem(question);
  if (workload.watts.empty() && metric.needs_energy)
    refuse_without_watts("devices", metric, question.topology);
  const Workload best = deal_by_metric(
      ranked_workloads(workload, LinkMap{question.topology}, metric).front(), metric,
      workload);
  const std::vector<MemoryId> gpus = best.devices(question.devices);
  Plan plan = estimated_plan(question.on(gpus, best.shares).estimated());
  plan.origin.reasons.push_back(
      {.kind = PlanReason::model, .name = std::string{metric.name}});
  return plan;
}

/// The nearest other GPU that has the tile, ties to the lowest; else the home, however
/// near. Present copies come before copies in flight. peer-rank: distance is the inverse
/// rate, and rates within a tenth of the fastest are equal. nearest-id: distance is the
/// difference of numbers, and only tiles that a GPU has published count.
std::optional<size_t> LibraryEmulation::source(std::span<const Peer> peers) const {
  constexpr double as_fast = 0.9;
  const bool by_speed = profile.source_rule == SourceRule::peer_rank;
  const auto distance = [&](const Peer& peer) {
    return by_speed ? peer.per_byte.value : double(peer.distance);
  };
  const auto counts = [&](const Peer& peer) { return by_speed || peer.is_shown; };
  std::optional<std::pair<bool, double>> nearest;
  for (const Peer& peer : peers)
    if (const std::pair near{peer.is_coming, distance(peer)};
        counts(peer) && (!nearest || near < *nearest))
      nearest = near;
  if (!nearest) return std::nullopt;
  const auto chosen = std::ranges::find_if(peers, [&](const Peer& peer) {
    return counts(peer) && peer.is_coming == nearest->first &&
           (by_speed ? as_fast : 1) * distance(peer) <= nearest->second;
  });
  return size_t(chosen - peers.begin());
}

TasksAtOnce LibraryEmulation::limits() const {
  if (profile.agent == Agent::xkblas) return XkblasTasks::at_once;
  if (profile.agent == Agent::blasx) return BlasxTasks::at_once;
  return {.waiting = 1};
}

std::shared_ptr<Chooser> LibraryEmulation::chooser(const GemmTasks& tasks,
                                                   const Tiling& tiling, Fetcher& fetcher,
                                                   size_t most) const {
  if (profile.agent == Agent::xkblas) return std::make_shared<XkblasTasks>(tasks, tiling);
  if (profile.agent == Agent::blasx)
    return std::make_shared<BlasxTasks>(tasks, tiling, fetcher, most);
  return nullptr;
}

RuntimeCosts LibraryEmulation::costs(size_t devices) const {
  const auto seconds = [](double microseconds) { return Seconds{microseconds * 1e-6}; };
  return {seconds(profile.task_us), seconds(profile.request_us), seconds(profile.peer_us),
          seconds(profile.gpu_us * double(devices)),
          profile.copy_rates == CopyRates::duplex};
}

}  // namespace tilerail
