#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

#include "model/base/error.hpp"
#include "plan/json.hpp"
#include "plan/plan.hpp"

namespace {

std::optional<tilerail::Plan> accepted(const std::string& text) {
  try {
    std::istringstream stream{text};
    return tilerail::plan_from_json(stream, "fuzz.json");
  } catch (const tilerail::InputError&) {
    return std::nullopt;
  }
}

}  // namespace

/// Any text is refused with an InputError, or is a plan that can be written and read
/// again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto plan = accepted({reinterpret_cast<const char*>(data), size});
  if (!plan) return 0;
  std::stringstream again;
  tilerail::write_json(*plan, [&](std::string_view piece) { again << piece; });
  tilerail::plan_from_json(again, "again.json");
  return 0;
}
