#include "cli/bench_options.hpp"

#include <limits>

#include "cli/parse.hpp"

namespace tilerail::cli {

void BenchOptions::add_to(CLI::App& app, OptionGroup& group) {
  app.add_flag("--check", check, "Compare each result with a reference")->group(group.heading);
  group.add("--iters", "N", iterations, "Measured iterations [" + iterations + "]");
  group.add("--warmup", "N", warmup, "Iterations before them [" + warmup + "]");
  group.add("--seed", "N", seed, "Of the random matrices [1]");
  group.add("--host-buffers", "KIND", host_buffers,
            "cuda: spread over all memory, or plain as the runtime allocates them [spread]");
}

RunSettings BenchOptions::settings(int least_warmup) const {
  constexpr int most = 1000;
  RunSettings settings;
  settings.iterations = static_cast<int>(parse_integer(iterations, "--iters", 1, most));
  settings.warmup = static_cast<int>(parse_integer(warmup, "--warmup", least_warmup, most));
  settings.seed =
      static_cast<std::uint64_t>(parse_integer(seed, "--seed", 0, std::numeric_limits<std::int64_t>::max()));
  settings.check = check;
  settings.pages = pages_of(host_buffers);
  return settings;
}

}  // namespace tilerail::cli
