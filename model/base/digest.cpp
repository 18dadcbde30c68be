#include "model/base/digest.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace tilerail {

std::string digest_text(std::string_view text) {
  uint64_t hash = 14695981039346656037U;
  for (const char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return fmt::format("{:016x}", hash);
}

}  // namespace tilerail
