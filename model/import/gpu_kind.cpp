#include "model/import/gpu_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "model/base/error.hpp"
#include "model/import/assumptions.hpp"

namespace tilerail {
namespace {

/// The source of a kind in the machine, by a key that no other source has.
std::string add_source(Topology::Description& machine, const GpuKind& kind, const std::string& key) {
  const auto own = std::ranges::find(kind.sources, key, &Source::key);
  if (own == kind.sources.end()) return key;
  Source source = *own;
  const auto known = [&] { return std::ranges::find(machine.sources, source.key, &Source::key); };
  while (known() != machine.sources.end() && known()->text != source.text) source.key += " of " + kind.machine;
  if (known() == machine.sources.end()) machine.sources.push_back(source);
  return source.key;
}

/// Adds the kernels of a kind with their sources; returns their index.
std::size_t add_kernels(Topology::Description& machine, const GpuKind& kind) {
  KernelTimes kernels = kind.kernels;
  const auto known = [&](const std::string& name) {
    return std::ranges::find(machine.kernels, name, &KernelTimes::name) != machine.kernels.end();
  };
  for (int number = 2; known(kernels.name); ++number) kernels.name = fmt::format("{}-{}", kind.kernels.name, number);
  kernels.source = add_source(machine, kind, kernels.source);
  for (GemmCurve& curve : kernels.gemm) curve.source = add_source(machine, kind, curve.source);
  machine.kernels.push_back(kernels);
  return machine.kernels.size() - 1;
}

}  // namespace

const assumptions::GpuModel* gpu_model(std::string_view kernels) {
  const auto test = [](int (*is)(int), char c) { return is(static_cast<unsigned char>(c)) != 0; };
  std::string word;
  for (std::size_t i = 0; i <= kernels.size(); ++i) {
    if (i < kernels.size() && test(std::isalnum, kernels[i])) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(kernels[i])));
      continue;
    }
    while (!word.empty()) {
      const auto* const known = std::ranges::find(assumptions::gpu_models, word, &assumptions::GpuModel::word);
      if (known != assumptions::gpu_models.end()) return known;
      if (!test(std::isalpha, word.back())) break;
      word.pop_back();
    }
    word.clear();
  }
  return nullptr;
}

int pcie_generation(std::string_view kernels) {
  const assumptions::GpuModel* model = gpu_model(kernels);
  return model == nullptr ? assumptions::other_generation : model->pcie;
}

Rate pcie_of(const GpuKind& kind) { return assumptions::pcie_reached(pcie_generation(kind.kernels.name)); }

int nvlinks_of(const GpuKind& kind) {
  const assumptions::GpuModel* model = gpu_model(kind.kernels.name);
  return model == nullptr ? assumptions::most_nvlinks : model->nvlinks;
}

void set_kinds(Topology::Description& machine, const GpuKind& other, const std::map<int, GpuKind>& kinds) {
  std::map<std::pair<std::string, std::string>, std::size_t> known;  // by file and name of kernels
  known[{other.file, other.kernels.name}] = 0;
  for (const auto& [device, kind] : kinds) {
    const auto gpu = std::ranges::find_if(machine.memories, [number = device](const Memory& memory) {
      return memory.kind == NodeKind::gpu && memory.device == number;
    });
    if (gpu == machine.memories.end())
      throw InputError{"kernels", std::to_string(device), "is not a GPU of the machine", "the number of one"};
    const auto [kernels, fresh] = known.try_emplace({kind.file, kind.kernels.name}, 0);
    if (fresh) kernels->second = add_kernels(machine, kind);
    Memory memory = kind.gpu;
    memory.name = gpu->name, memory.kind = gpu->kind, memory.node = gpu->node;
    memory.device = device, memory.source = gpu->source;
    memory.kernels = kernels->second;
    *gpu = memory;
  }
}

int pcie_generation(Rate rate) {
  int generation = assumptions::first_pcie;
  for (const Rate nominal : assumptions::pcie)
    if (nominal < rate) ++generation;
  return std::min(generation, assumptions::last_pcie);
}

}  // namespace tilerail
