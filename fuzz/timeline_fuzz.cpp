#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "model/base/error.hpp"
#include "report/timeline/timeline_csv.hpp"

namespace {

std::optional<tilerail::AnnotatedTimeline> accepted(std::string_view text) {
  try {
    return tilerail::timeline_from_csv(text, "fuzz.csv");
  } catch (const tilerail::InputError&) {
    return std::nullopt;
  }
}

}  // namespace

/// Any text is refused with an InputError, or is a timeline that is unchanged after being
/// written and read again.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto timeline = accepted({reinterpret_cast<const char*>(data), size});
  if (timeline &&
      tilerail::timeline_from_csv(tilerail::to_csv(*timeline), "again.csv") != *timeline)
    std::abort();
  return 0;
}
