#pragma once

#include <string>

#include "model/import/smi_matrix.hpp"
#include "model/machine/topology.hpp"

namespace tilerail {

/// Removes the copies between GPUs that have no peer access: a plan takes their bytes over a host, in two copies, as
/// drivers do. Throws InputError of this subject for GPUs that the machine does not have, or that `access` lacks.
void deny_peer_access(Topology::Description& machine, const PeerAccess& access, const Source& source,
                      std::string_view subject);

/// "none", pairs that have access such as "0-1,2-3", or else a file with the output of `nvidia-smi topo -p2p r`; of a
/// machine with these GPUs. Throws InputError.
PeerAccess parse_peer_access(const std::string& text, const Topology::Description& machine);

}  // namespace tilerail
