#pragma once

#include <string>

#include "model/import/gpu_kind.hpp"

namespace tilerail::study {

/// Finds a kind of GPU. `text` is a machine (file or name) whose GPUs are all of one
/// kind, MACHINE:KERNELS, or a kernel table or words of its name between '-' ("h100"),
/// looked up in the machines by name. Throws InputError with the existing tables.
GpuKind find_gpu_kind(const std::string& text);

}  // namespace tilerail::study
