#pragma once

#include <array>
#include <string>
#include <string_view>

#include "study/job.hpp"

namespace tilerail::study {

/// What a sweep can vary, and its file can say of all points: options of a problem, a
/// machine and a policy without their dashes (gemm, m, n, k, dtype, place, topology,
/// devices, policy, tile ...), fields of policies (routing ...), and settings of the
/// machine (link:host->gpu0.bandwidth, gpus ...; docs/formats.md#settings).

inline constexpr std::array<std::string_view, 3> size_keys{"m", "n", "k"};

/// Whether it is a key at all, as far as it tells without a machine.
bool is_key(const std::string& key);

/// Sets it, also where it was set before. M, N and K replace those of gemm: of sizes that
/// nothing says, gemm is empty, as in "4K,,64". Throws InputError for a key that does not
/// exist. Values are checked when the job is planned.
void set_key(JobText& job, const std::string& key, const std::string& value);

}  // namespace tilerail::study
