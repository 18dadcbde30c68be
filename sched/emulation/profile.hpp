#pragma once

#include "model/published/overlap_models.hpp"
#include "sched/policy/emulation.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail {

enum class TileRule { none, gemmex, repeat, paralia, cublasxt, xkblas, model };
enum class SourceRule { none, peer_rank, nearest_id };
enum class Agent { none, paralia, xkblas, blasx };
enum class CopyRates { alone, duplex };
enum class SelectBy { plans, model, library };

/// Properties of a library's plans that the preset tilerail lacks. Options:
/// sched/emulation/options.cpp.
struct Profile {
  TileRule tile_rule = TileRule::none;
  OverlapModel tile_model = OverlapModel::dr;  // for TileRule::model
  SourceRule source_rule = SourceRule::none;
  SelectBy select_by = SelectBy::plans;
  Agent agent = Agent::none;  // library whose rules set when GPUs request tasks
  CopyRates copy_rates = CopyRates::alone;
  bool warm = false;  // GPUs start with the tiles of an earlier, equal call
  // Run-time system's microseconds per kernel, per copy from or to a host, per copy
  // between GPUs, and per GPU of a call.
  double task_us = 0, request_us = 0, peer_us = 0, gpu_us = 0;
};

/// An emulation defined by a profile (docs/model.md#libraries).
class LibraryEmulation final : public Emulation {
 public:
  explicit LibraryEmulation(Profile how = {}) : profile{how} {}

  const std::vector<Field>* fields() const override;
  std::shared_ptr<const Emulation> idle() const override;
  std::vector<int64_t> tiles(const Question& question, const TileScheduler& scheduler,
                             Grid grid) const override;
  std::optional<Plan> timed_plan(const Question& question,
                                 const PlanSimulator& simulator) const override;
  std::optional<Plan> selected_plan(const Question& question,
                                    const Metric& metric) const override;
  bool predicts_as_library() const override {
    return profile.select_by == SelectBy::library;
  }
  Grid grid(int gpus) const override;
  std::optional<size_t> source(std::span<const Peer> peers) const override;
  bool is_in_model_time() const override { return profile.agent != Agent::none; }
  bool has_one_queue() const override { return profile.agent == Agent::blasx; }
  TasksAtOnce limits() const override;
  std::shared_ptr<Chooser> chooser(const GemmTasks& tasks, const Tiling& tiling,
                                   Fetcher& fetcher, size_t most) const override;
  bool is_warm() const override { return profile.warm; }
  RuntimeCosts costs(size_t devices) const override;

  Profile profile;
};

/// The profile of a policy whose emulation has one.
inline const Profile& profile_of(const Policy& policy) {
  return static_cast<const LibraryEmulation&>(*policy.choices.emulation).profile;
}

/// Grid of XKBLAS and PARALiA: rows are the largest divisor up to floor(sqrt(gpus)) + 1:
/// 2 x 4, 3 x 2, 2 x 1.
Grid xkblas_grid(int gpus);

}  // namespace tilerail
