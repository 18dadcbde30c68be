#pragma once

#include <string>
#include <string_view>

namespace tilerail {

/// FNV-1a, 64 bits, as 16 hexadecimal digits: the same in every process and on every
/// machine, unlike std::hash.
std::string digest_text(std::string_view text);

}  // namespace tilerail
