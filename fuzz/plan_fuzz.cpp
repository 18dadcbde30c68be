#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "model/base/error.hpp"
#include "plan/json.hpp"
#include "plan/plan.hpp"

namespace {

std::optional<tilerail::Plan> accepted(const std::string& text) {
  try {
    return tilerail::plan_from_json(text, "fuzz.json");
  } catch (const tilerail::InputError&) {
    return std::nullopt;
  }
}

}  // namespace

/// Any text is refused with an InputError, or is a plan that can be written and read again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto plan = accepted({reinterpret_cast<const char*>(data), size});
  if (plan) tilerail::plan_from_json(tilerail::to_json(*plan), "again.json");
  return 0;
}
