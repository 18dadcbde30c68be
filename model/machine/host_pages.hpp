#pragma once

#include <cstdint>

namespace tilerail {

/// Page placement of a host buffer: spread over all memory controllers, or plain (default
/// allocation by the runtime).
enum class HostPages : uint8_t { spread, plain };

}  // namespace tilerail
