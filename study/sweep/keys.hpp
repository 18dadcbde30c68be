#pragma once

#include <array>
#include <string>
#include <string_view>

#include "study/job.hpp"

namespace tilerail::study {

/// Keys that a sweep can vary or that its file sets for all points: options of a problem,
/// a machine and a policy without dashes (gemm, m, n, k, dtype, place, topology, devices,
/// policy, tile ...), fields of policies (routing ...), and settings of the machine
/// (link:host->gpu0.bandwidth, gpus ...; docs/formats.md#settings).

inline constexpr std::array<std::string_view, 3> size_keys{"m", "n", "k"};

/// Whether `key` is valid, as far as can be checked without a machine.
bool is_key(const std::string& key);

/// Sets or replaces a value. M, N and K replace the sizes in gemm; unset sizes are empty,
/// as in "4K,,64". Throws InputError for an invalid key. Values are checked when the job
/// is planned.
void set_key(JobText& job, const std::string& key, const std::string& value);

}  // namespace tilerail::study
