#pragma once

#include "model/machine/topology.hpp"

namespace tilerail {

/// A machine made of this computer's threads: a memory "host" and `devices` devices
/// "device0", "device1", ... of `workers` threads each, with direct links in both
/// directions between every two of them. All memories are one RAM, so all links share the
/// group "memory". If `cores` > 0, so many more threads are a processor of "host". A
/// kernel takes one worker: a thread block is larger than any result, and a processor
/// runs as many blocks simultaneously as it has workers. Figures are assumed round
/// numbers; calibrate_host measures them. Throws InputError if devices is not in 1..64,
/// workers not in 1..1024, or cores not in 0..1024.
Topology::Description host_machine(int devices, int workers, int cores = 0);

}  // namespace tilerail
