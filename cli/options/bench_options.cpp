#include "cli/options/bench_options.hpp"

#include <limits>
#include <utility>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"

namespace tilerail::cli {

void BenchOptions::add_to(const OptionGroup& group) {
  added = {
      group.flag("--check", check, "Compare each result with a reference"),
      group.add("--iters", "N", iterations, "Measured iterations [" + iterations + "]"),
      group.add("--warmup", "N", warmup, "Iterations before them [" + warmup + "]"),
      group.add("--seed", "N", seed, "Seed of random matrices [1]"),
      group.add("--host-buffers", "KIND", host_buffers,
                "cuda: spread over all memory, or plain as the runtime allocates them "
                "[spread]"),
      group.add("--energy", "SECONDS", energy,
                "cuda: calls after the measured ones while the GPUs count their energy, "
                "0 or 0.5 to 60 [0.5]")};
}

std::optional<study::RunSettings> BenchOptions::settings_unless_simulated(
    const std::string& backend) const {
  if (!backend.empty() && backend != fluid_backend) {
    study::require_backend(backend);
    return settings(1, backend);
  }
  for (const CLI::Option* option : added)
    if (option->count() > 0)
      throw fault_of(option->get_name(), "is invalid in a simulation",
                     "--backend host or cuda");
  return std::nullopt;
}

study::RunSettings BenchOptions::settings(int least_warmup,
                                          const std::string& backend) const {
  constexpr int most = 1000;
  constexpr double least_energy = 0.5;  // several steps of the energy counters
  study::RunSettings settings;
  settings.iterations = int(parse_integer(iterations, "iters", 1, most));
  settings.warmup = int(parse_integer(warmup, "warmup", least_warmup, most));
  settings.seed =
      uint64_t(parse_integer(seed, "seed", 0, std::numeric_limits<int64_t>::max()));
  settings.check = check;
  if (host_buffers) settings.pages = study::pages_of(*host_buffers);
  settings.energy_seconds = energy ? parse_real(*energy, "energy") : least_energy;
  if (settings.energy_seconds != 0 &&
      !(settings.energy_seconds >= least_energy && settings.energy_seconds <= 60))
    throw out_of_range("energy", *energy, "0, or 0.5 to 60 seconds");
  if (backend != "host") return settings;
  for (const auto& [option, given] :
       {std::pair{"host-buffers", host_buffers}, {"energy", energy}})
    if (given)
      throw InputError{option, *given, "is invalid on the host", "--backend cuda"};
  return settings;
}

}  // namespace tilerail::cli
