#pragma once

#include <optional>
#include <string>

#include "model/import/assumptions.hpp"
#include "study/design/kernel_tables.hpp"

namespace tilerail::study {

/// Consistent figures of a machine. Rates are of one direction.
struct Design {
  std::string name, command;
  size_t gpus = 1, sockets = 1, islands = 1, uplink_gpus = 1;
  Rate pcie{0}, socket_link{0};
  assumptions::HostRates host_memory;
  std::optional<Rate> nvlink, bridge;
  GpuKind kind;
};

/// The text of the machine file.
std::string tables_of(const Design& design);

}  // namespace tilerail::study
