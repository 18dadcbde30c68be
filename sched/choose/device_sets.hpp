#pragma once

#include <span>
#include <vector>

#include "sched/policy/question.hpp"

namespace tilerail {

using DeviceSets = std::vector<std::vector<MemoryId>>;

/// Candidate sets of `count` devices: the homes of matrices and, of the other devices,
/// once the first and once evenly spaced ones, which share fewer links and groups. No
/// duplicates.
DeviceSets device_subsets(const GemmProblem& problem, std::span<const MemoryId> devices,
                          size_t count);

/// Time of the product as one kernel on each device, with work in proportion to their
/// speeds.
Seconds kernels_alone(const Question& question, std::span<const MemoryId> devices);

/// Sets of 1, 2, 3, ... devices. Each adds the GPU with the least lower bound of kernels
/// and copies to the set before it, so slow GPUs and GPUs behind a shared link are left
/// out. For up to 6 devices, all sets without one device are added. Sets whose bound is
/// more than 10 % above the least are dropped. Empty for more than 16 devices.
DeviceSets growing_sets(const Question& question);

/// For each size of islands, the first with the most matrices. None for very many GPUs:
/// there are too many pairs.
DeviceSets islands_with_matrices(const Question& question);

/// The devices that can receive their inputs, from the home or from each other, and
/// return their results: directly to the home of C, or over other devices. Copies between
/// GPUs may go over a host (`copies`).
enum class ReturnPath : bool { direct, over_others };
std::vector<MemoryId> supplied_devices(const GemmProblem& problem,
                                       const Topology& topology,
                                       std::span<const MemoryId> devices,
                                       ReturnPath path = ReturnPath::direct,
                                       PeerCopies copies = PeerCopies::direct);
/// The devices that receive and send everything directly.
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
