#pragma once

#include <optional>
#include <string>

#include "model/import/assumptions.hpp"
#include "study/design/kernel_tables.hpp"

namespace tilerail::study {

/// A machine in a few figures that fit together. Rates are of one direction.
struct Design {
  std::string name, command;
  size_t gpus = 1, sockets = 1, islands = 1, uplink_gpus = 1;
  Rate pcie{0}, socket_link{0};
  assumptions::HostRates host_memory;
  std::optional<Rate> nvlink, bridge;
  GpuKind kind;
};

/// Its file.
std::string tables_of(const Design& design);

}  // namespace tilerail::study
