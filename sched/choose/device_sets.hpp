#pragma once

#include <span>
#include <vector>

#include "sched/policy/question.hpp"

namespace tilerail {

using DeviceSets = std::vector<std::vector<MemoryId>>;

/// Sets of `count` of the devices that are worth planning for: those where matrices are
/// and, of the others, once the first and once evenly spaced ones, which share fewer
/// links and groups. No set is listed twice.
DeviceSets device_subsets(const GemmProblem& problem, std::span<const MemoryId> devices,
                          size_t count);

/// The time of the product as one kernel on each of these devices, its work shared out in
/// proportion to their speeds.
Seconds kernels_alone(const Question& question, std::span<const MemoryId> devices);

/// Sets of 1, 2, 3, ... of the devices, each with one GPU more than the set before it:
/// the GPU with which kernels and copies together are bounded by the least time. So they
/// leave out slow GPUs and those behind a link that others share. Of up to 6 devices, all
/// of them but one as well. Left out are sets of which that time is more than 10 % above
/// the least one. Empty for more than 16 devices.
DeviceSets growing_sets(const Question& question);

/// Of the islands of each size, the first of those that hold the most matrices. Among
/// very many GPUs none is looked for: their pairs are too many.
DeviceSets islands_with_matrices(const Question& question);

/// The devices that get what is read, from its home or from one another, and bring back
/// what they write: straight to the home of C, or over one another, too. Copies between
/// GPUs may go over a host (`copies`).
enum class WayOfC : bool { straight, over_others };
std::vector<MemoryId> supplied_devices(const GemmProblem& problem,
                                       const Topology& topology,
                                       std::span<const MemoryId> devices,
                                       WayOfC way = WayOfC::straight,
                                       PeerCopies copies = PeerCopies::direct);
/// The devices among them that receive and send everything directly.
std::vector<MemoryId> directly_supplied(const GemmProblem& problem,
                                        const Topology& topology,
                                        std::span<const MemoryId> devices,
                                        PeerCopies copies = PeerCopies::direct);

/// If some devices of the question send C home over other devices: the set of devices
/// that send C home directly. If some devices of that set receive inputs over other
/// devices: also the set of devices that need no other device. No set is empty or listed
/// twice.
DeviceSets supplied_sets(const Question& question);

}  // namespace tilerail
