#pragma once

#include <vector>

#include "sched/route/fetcher.hpp"
#include "sched/tasks/outputs.hpp"

namespace tilerail {

/// Tiles that tasks on several devices write and read in turn: the newest version is
/// fetched to its next writer, and goes home after its last writer.
class SharedTiles final : public Outputs {
 public:
  SharedTiles(PlanContext& context, Fetcher& fetcher)
      : context_{context},
        fetcher_{fetcher},
        directory_{fetcher.directory()},
        started_(context.devices.size()) {}

  /// Kernels take the queues of their device in turn.
  Place open(const Task& task, size_t device, Deps& deps) override;
  void written(const Task& task, size_t device, OpId kernel, Seconds end) override;

 private:
  View memory_for(TileId tile, size_t device, Deps& deps);
  void written(const WrittenTile& written, size_t device, OpId kernel, Seconds end);

  PlanContext& context_;
  Fetcher& fetcher_;
  TileDirectory& directory_;
  std::vector<int> started_;  // number of kernels by device
};

}  // namespace tilerail
