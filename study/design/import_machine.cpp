#include "study/design/import_machine.hpp"

#include <utility>

#include "model/base/error.hpp"
#include "model/base/files.hpp"
#include "model/import/import.hpp"
#include "model/machine/topology_check.hpp"
#include "study/design/machine_design.hpp"

namespace tilerail::study {
namespace {

constexpr const char* one_file = "one file of nvidia-smi, nccl, nvbandwidth or p2p";

ImportRates rates_of(const ImportText& text, const GpuKind& kind) {
  ImportRates rates;
  const Pcie pcie = pcie_of(text.pcie, kind);
  rates.pcie = pcie.rate;
  rates.generation = pcie.generation;
  const auto given = [](const std::string& rate,
                        const char* subject) -> std::optional<Rate> {
    return rate.empty() ? std::nullopt : std::optional{design_rate(rate, subject)};
  };
  rates.nvlink = given(text.nvlink, "nvlink");
  rates.c2c = given(text.c2c, "c2c").value_or(rates.c2c);
  rates.host_memory = given(text.host_memory, "host-memory");
  rates.sockets = given(text.socket_link, "socket-link").value_or(rates.sockets);
  return rates;
}

/// The only given tool, and its file.
std::pair<std::string, std::string> tool_of(const ImportText& text) {
  std::vector<std::pair<std::string, std::string>> given;
  for (const auto& [tool, file] :
       {std::pair{"nvidia-smi", &text.nvidia_smi}, std::pair{"nccl", &text.nccl},
        std::pair{"nvbandwidth", &text.nvbandwidth}, std::pair{"p2p", &text.p2p}})
    if (!file->empty()) given.emplace_back(tool, *file);
  if (given.empty()) throw missing("file", one_file);
  if (given.size() > 1)
    throw InputError{given[1].first, given[1].second,
                     "is given together with " + given[0].first, one_file};
  return given.front();
}

}  // namespace

ImportedMachine import_machine(const ImportText& text) {
  const auto [tool, file] = tool_of(text);
  if (text.kernels.empty())
    throw missing("kernels", "the kind of GPU, such as h200, or a machine that has it");
  const GpuKind kind = find_gpu_kind(text.kernels);
  const ImportRates rates = rates_of(text, kind);
  const std::string content = read_file(file);
  std::vector<std::string> notes;
  Topology::Description machine =
      tool == "nvidia-smi" ? import_nvidia_smi(content, file, kind, rates)
      : tool == "nccl"     ? import_nccl_xml(content, file, kind, rates)
      : tool == "p2p"      ? import_p2p_test(content, file, kind, rates)
                           : import_nvbandwidth(content, file, kind, &notes);
  machine.name = text.name.value_or(machine.name);
  if (!is_name(machine.name))
    throw InputError{"name", machine.name, "is not a name", expected_name};
  return {Topology{std::move(machine)}, std::move(notes)};
}

}  // namespace tilerail::study
