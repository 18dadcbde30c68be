// Any bytes as the file of a sweep: read, or refused by InputError. Points of what was read are made, too.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/base/error.hpp"
#include "study/sweep/sweep_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const auto sweep = tilerail::study::read_sweep(text, "sweep.toml");
    for (const auto& axis : sweep.axes) (void)axis.column();
    (void)sweep.job(0);
  } catch (const tilerail::InputError&) {
  }
  return 0;
}
