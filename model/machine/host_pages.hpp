#pragma once

#include <cstdint>

namespace tilerail {

/// Where the pages of a host buffer lie: spread over all memory controllers, or plain, as
/// the runtime allocates them.
enum class HostPages : uint8_t { spread, plain };

}  // namespace tilerail
