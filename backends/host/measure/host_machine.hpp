#pragma once

#include "model/machine/topology.hpp"

namespace tilerail {

/// A machine made of this computer's threads: a memory "host" and `devices` devices
/// "device0", "device1", ... of `workers` threads each, every two of them joined by a
/// direct link each way. All memories are one RAM, so all links share the group "memory".
/// A kernel takes one worker: a thread block is larger than any result, and a device runs
/// as many blocks at once as it has workers. Figures are assumed round numbers, to run
/// plans with; calibrate_host measures them. Throws InputError when devices is not
/// in 1..64 or workers not in 1..1024.
Topology::Description host_machine(int devices, int workers);

}  // namespace tilerail
