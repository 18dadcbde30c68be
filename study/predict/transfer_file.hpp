#pragma once

#include <string>

#include "model/published/transfer_time.hpp"

namespace tilerail::study {

/// The sub-model of one direction from measured copies (docs/formats.md#copies). Throws InputError naming file, line
/// and column, the value and what was expected.
TransferTime read_transfer_time(const std::string& file);

}  // namespace tilerail::study
