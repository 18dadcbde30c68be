#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tilerail {

/// FNV-1a, 64 bits: the same in every process and on every machine, unlike std::hash.
uint64_t digest(std::string_view text);

/// The same as 16 hexadecimal digits.
std::string digest_text(std::string_view text);

}  // namespace tilerail
