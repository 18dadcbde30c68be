#pragma once

#include <string>
#include <string_view>

#include "study/job.hpp"

namespace tilerail::study {

/// What a sweep can vary, and its file can say of all points: options of a problem, a machine and a policy without
/// their dashes (gemm, m, n, k, dtype, place, topology, devices, policy, tile ...), fields of policies (routing ...),
/// and settings of the machine (link:host->gpu0.bandwidth, gpus ...; docs/formats.md#settings).

bool is_machine_setting(std::string_view key);

/// Sets it. Throws InputError "KEY: ..." for a key that is none. Values are checked when the job is planned.
void set_key(JobText& job, const std::string& key, const std::string& value);

}  // namespace tilerail::study
