#pragma once

#include <string>

#include "model/machine/topology.hpp"

namespace tilerail::cli {

/// What handing over costs, as `tilerail topo show` tells it; empty where it costs nothing.
std::string issue_text(const IssueCost& issue);

}  // namespace tilerail::cli
