#pragma once

#include <memory>
#include <vector>

#include "backends/ranks/rank_transport.hpp"

namespace tilerail {

/// Transports between ranks that are threads of one process. A message is copied into a
/// queue of its receiver, whose thread copies it to where it belongs. A rank leaves when
/// its transport is destroyed.
std::vector<std::unique_ptr<RankTransport>> in_process_transports(size_t ranks);

}  // namespace tilerail
