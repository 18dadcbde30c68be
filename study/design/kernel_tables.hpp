#pragma once

#include <string>

#include "model/import/gpu_kind.hpp"

namespace tilerail::study {

/// The kind of GPU that `text` means: the file or name of a machine whose GPUs are all of
/// one kind; MACHINE:KERNELS for one of several; or the name of a kernel table, or words
/// of it between '-', in the first machine by name that has it: "h100". Throws InputError
/// with the tables that exist.
GpuKind find_gpu_kind(const std::string& text);

}  // namespace tilerail::study
