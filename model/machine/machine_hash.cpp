#include "model/machine/machine_hash.hpp"

#include "model/base/digest.hpp"
#include "model/machine/topology_writer.hpp"

namespace tilerail {

std::string machine_hash(const Topology& machine) { return digest_text(to_toml(machine.description())); }

}  // namespace tilerail
