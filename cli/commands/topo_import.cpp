#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/commands/topo_actions.hpp"
#include "cli/options/option_group.hpp"
#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "model/base/parse.hpp"
#include "model/base/topology_limits.hpp"
#include "model/base/units_text.hpp"
#include "model/import/import.hpp"
#include "model/import/peer_access.hpp"
#include "model/machine/topology_check.hpp"
#include "model/machine/topology_writer.hpp"
#include "study/design/kernel_tables.hpp"
#include "study/design/machine_design.hpp"

namespace tilerail::cli {
namespace {

constexpr const char* footer = R"(Examples:
  nvidia-smi topo -m > topo.txt; tilerail topo import --nvidia-smi topo.txt --kernels h200 -o node.toml
  NCCL_TOPO_DUMP_FILE=nccl.xml ./any-nccl-program; tilerail topo import --nccl nccl.xml --kernels h200 -o node.toml
  nvbandwidth -j > rates.json; tilerail topo import --nvbandwidth rates.json --kernels h200 -o node.toml
  p2pBandwidthLatencyTest > p2p.txt; tilerail topo import --p2p p2p.txt --kernels a100 -o node.toml
  nvidia-smi topo -p2p r > p2p.txt; tilerail topo import --nvidia-smi topo.txt --peer-access p2p.txt --kernels a100
  tilerail topo import --nvidia-smi topo.txt --kernels h100 --kernels 3=a100 -o mixed.toml)";

struct ImportOptions {
  std::string nvidia_smi, nccl, nvbandwidth, p2p, out = "-";
  std::vector<std::string> kernels;
  std::optional<std::string> name;
  std::string peer_access;
  std::string pcie, nvlink, c2c, host_memory, socket_link;  // what is assumed of these, if empty
};

/// A file, and what it does not tell.
struct ImportInput {
  std::string tool, file, text;  // the tool by its option
  GpuKind kind;
  std::map<int, GpuKind> kinds;  // of single GPUs
  bool has_others = true;        // whether there may be GPUs without a kind of their own
  ImportRates rates;
  std::string peer_access;
};

constexpr const char* tools = "--nvidia-smi, --nccl, --nvbandwidth and --p2p";

/// "3=a100" or "0-3,6=a100"; nothing of a kind for all GPUs, whose file may have a '=' in its name.
std::optional<std::pair<std::vector<int>, std::string>> kernels_of_some(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) return std::nullopt;
  const std::string numbers = text.substr(0, equals);
  if (numbers.find_first_not_of("0123456789,-") != std::string::npos) return std::nullopt;
  return std::pair{parse_numbers(numbers, "kernels"), text.substr(equals + 1)};
}

void read_kinds(const std::vector<std::string>& texts, ImportInput& input) {
  std::string of_all;
  for (const std::string& text : texts) {
    if (const auto some = kernels_of_some(text)) {
      const GpuKind kind = study::find_gpu_kind(some->second);
      for (const int gpu : some->first)
        if (!input.kinds.emplace(gpu, kind).second)
          throw InputError{"kernels", text, fmt::format("gives GPU {} kernels again", gpu), "them once"};
      continue;
    }
    if (!of_all.empty())
      throw InputError{"kernels", text, fmt::format("is given next to {}", in_quotes(of_all)),
                       "one kind for all GPUs, and GPU=KIND for others"};
    of_all = text;
    input.kind = study::find_gpu_kind(text);
  }
  if (texts.empty()) throw missing("kernels", "the kind of GPU, such as h200, or a machine that has it");
  input.has_others = !of_all.empty();
  if (!input.has_others) input.kind = input.kinds.begin()->second;
}

/// Throws InputError for a GPU of the machine without a kind.
void check_all_have_kinds(const ImportInput& input, const Topology::Description& machine) {
  for (const Memory& memory : machine.memories)
    if (memory.kind == NodeKind::gpu && !input.has_others && !input.kinds.contains(memory.device))
      throw missing("kernels", fmt::format("the kind of all other GPUs, as of GPU {}, such as h200", memory.device));
}

/// Rates of options, by the option.
std::map<std::string, Rate> rates_of(const ImportOptions& options) {
  std::map<std::string, Rate> rates;
  if (!options.pcie.empty()) rates["--pcie"] = study::pcie_of(options.pcie, {}).rate;
  for (const auto& [option, text] :
       {std::pair{"--nvlink", &options.nvlink}, std::pair{"--c2c", &options.c2c},
        std::pair{"--host-memory", &options.host_memory}, std::pair{"--socket-link", &options.socket_link}})
    if (!text->empty()) rates[option] = study::design_rate(*text, option);
  return rates;
}

ImportRates import_rates(const ImportInput& input, const std::map<std::string, Rate>& given) {
  const auto rate = [&](const char* option, Rate assumed) {
    const auto known = given.find(option);
    return known == given.end() ? assumed : known->second;
  };
  ImportRates rates;
  rates.pcie = rate("--pcie", pcie_of(input.kind));
  rates.generation = given.contains("--pcie") ? pcie_generation(rates.pcie) : pcie_generation(input.kind.kernels.name);
  if (!given.contains("--pcie"))
    for (const auto& [gpu, kind] : input.kinds) rates.pcie_of[gpu] = pcie_of(kind);
  if (given.contains("--nvlink")) rates.nvlink = given.at("--nvlink");
  rates.c2c = rate("--c2c", rates.c2c);
  if (given.contains("--host-memory")) rates.host_memory = given.at("--host-memory");
  rates.sockets = rate("--socket-link", rates.sockets);
  return rates;
}

Topology::Description imported(const ImportInput& in, std::vector<std::string>& notes) {
  Topology::Description machine = in.tool == "--nvidia-smi" ? import_nvidia_smi(in.text, in.file, in.kind, in.rates)
                                  : in.tool == "--nccl"     ? import_nccl_xml(in.text, in.file, in.kind, in.rates)
                                  : in.tool == "--p2p"      ? import_p2p_test(in.text, in.file, in.kind, in.rates)
                                                            : import_nvbandwidth(in.text, in.file, in.kind, &notes);
  check_all_have_kinds(in, machine);
  set_kinds(machine, in.kind, in.kinds);
  if (!in.peer_access.empty())
    deny_peer_access(machine, parse_peer_access(in.peer_access, machine),
                     {"--peer-access", Source::Kind::assumed, "--peer-access " + in.peer_access}, "peer-access");
  return machine;
}

/// Refuses an option without which, or with another value of which, the machine would be the same.
class EffectCheck {
 public:
  EffectCheck(const ImportInput& input, const Topology::Description& machine)
      : input_{input}, machine_{to_toml(machine)} {}

  void of_rate(const std::string& option, const std::string& value, std::map<std::string, Rate> given) const {
    constexpr double other = 0.5;
    Rate& rate = given[option];
    rate = TopologyLimits::rate.holds(rate * other) ? rate * other : rate / other;
    ImportInput input = input_;
    input.rates = import_rates(input, given);
    require(input, option, value,
            option == "--c2c" ? "no GPU is coherent with its processor (nvidia-smi: a number as its GPU NUMA ID)"
                              : "no link or memory of this kind whose rate the file does not tell");
  }

  void of_kinds() const {
    if (!input_.has_others) return;
    for (const auto& [gpu, kind] : input_.kinds) {
      ImportInput input = input_;
      input.kinds.erase(gpu);
      require(input, "--kernels", fmt::format("{}={}", gpu, kind.kernels.name), "the GPU is of this kind without it");
    }
  }

  void of_peer_access() const {
    if (input_.peer_access.empty()) return;
    ImportInput input = input_;
    input.peer_access.clear();
    require(input, "--peer-access", input_.peer_access, "no pair that has access without it loses it");
  }

 private:
  void require(const ImportInput& other, const std::string& option, const std::string& value, const char* why) const {
    std::vector<std::string> notes;
    if (to_toml(imported(other, notes)) == machine_)
      throw InputError{option, value,
                       fmt::format("changes nothing together with {} {}: {}", input_.tool, input_.file, why),
                       "no such option"};
  }

  const ImportInput& input_;
  std::string machine_;
};

void check_effects(const ImportOptions& options, const ImportInput& input, const Topology::Description& machine,
                   const std::map<std::string, Rate>& given) {
  const EffectCheck check{input, machine};
  for (const auto& [option, value] :
       {std::pair{"--pcie", &options.pcie}, std::pair{"--nvlink", &options.nvlink}, std::pair{"--c2c", &options.c2c},
        std::pair{"--host-memory", &options.host_memory}, std::pair{"--socket-link", &options.socket_link}})
    if (!value->empty()) check.of_rate(option, *value, given);
  check.of_kinds();
  check.of_peer_access();
}

/// The option and the file of the only tool that is given.
std::pair<std::string, std::string> tool_of(const ImportOptions& options) {
  std::vector<std::pair<std::string, std::string>> given;
  for (const auto& [option, file] :
       {std::pair{"--nvidia-smi", &options.nvidia_smi}, std::pair{"--nccl", &options.nccl},
        std::pair{"--nvbandwidth", &options.nvbandwidth}, std::pair{"--p2p", &options.p2p}})
    if (!file->empty()) given.emplace_back(option, *file);
  if (given.empty()) throw missing("topo import", fmt::format("one of {}", tools));
  if (given.size() > 1)
    throw InputError{given[1].first, given[1].second, "is given together with " + given[0].first,
                     fmt::format("one of {}", tools)};
  return given.front();
}

/// Throws InputError if the name or the machine is invalid.
Topology named(Topology::Description description, const std::optional<std::string>& name) {
  if (name) description.name = *name;
  if (!is_name(description.name)) throw InputError{"name", description.name, "is not a name", expected_name};
  return Topology{description};
}

int run_import(const ImportOptions& options) {
  std::vector<std::string> notes;
  write_machine(options.out, [&] {
    ImportInput input;
    std::tie(input.tool, input.file) = tool_of(options);
    read_kinds(options.kernels, input);
    const auto given = rates_of(options);
    input.rates = import_rates(input, given);
    input.peer_access = options.peer_access;
    input.text = read_file(input.file);
    Topology::Description description = imported(input, notes);
    check_effects(options, input, description, given);
    return to_toml(named(std::move(description), options.name).description());
  });
  for (const std::string& note : notes) spdlog::warn("{}", note);
  return exit_ok;
}

}  // namespace

Command add_topo_import(CLI::App& topo) {
  auto options = std::make_shared<ImportOptions>();
  CLI::App* app = topo.add_subcommand("import", "Write the file of a machine that another tool describes");
  app->footer(footer);
  OptionGroup from{*app, "FROM (one of them)"};
  from.add("--nvidia-smi", "FILE", options->nvidia_smi, "What 'nvidia-smi topo -m' prints");
  from.add("--nccl", "FILE", options->nccl, "NCCL's topology file, of NCCL_TOPO_DUMP_FILE");
  from.add("--nvbandwidth", "FILE", options->nvbandwidth,
           "What 'nvbandwidth' prints, or 'nvbandwidth -j' ('--format json' of newer versions)");
  from.add("--p2p", "FILE", options->p2p, "What NVIDIA's p2pBandwidthLatencyTest prints");
  OptionGroup with{*app, "MACHINE (what files do not tell; a rate without a unit is in GB/s, of one direction)"};
  with.add("--kernels", "[GPU=]NAME", options->kernels,
           "What the GPUs are, as for 'topo new'; with numbers such as 3=a100 or 0-3=h100, what these GPUs are");
  with.add("--peer-access", "none|PAIRS|FILE", options->peer_access,
           "Pairs of GPUs that can access each other, such as 0-1,2-3; or what 'nvidia-smi topo -p2p r' prints [all]")
      ->check([](const std::string& text) { return text.empty() ? "expected none, pairs or a file" : ""; });
  with.add("--pcie", "GEN|RATE", options->pcie,
           "PCIe generation, 3 to 7, or rate, where the file has none [by the GPU: 4 of an A100, 5 of an H100]");
  with.add(
      "--nvlink", "RATE", options->nvlink,
      fmt::format("Of one NVLink [{}, or by the GPU's sm, which only --nccl tells]", to_text(assumptions::nvlink)));
  with.add("--c2c", "RATE", options->c2c,
           fmt::format("Of the NVLink-C2C between a processor and its GPU [{}]", to_text(assumptions::c2c)));
  add_host_rates(with, options->host_memory, options->socket_link);
  with.add("--name", "NAME", options->name, "Name of the machine [the tool's]");
  add_machine_output(*app, options->out);
  return {app, [options] { return run_import(*options); }};
}

}  // namespace tilerail::cli
