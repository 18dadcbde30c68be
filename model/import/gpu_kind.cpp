#include "model/import/gpu_kind.hpp"

#include <algorithm>
#include <cctype>

#include "model/import/assumptions.hpp"

namespace tilerail {

const assumptions::GpuModel* gpu_model(std::string_view kernels) {
  const auto test = [](int (*is)(int), char c) { return is(static_cast<unsigned char>(c)) != 0; };
  std::string word;
  for (size_t i = 0; i <= kernels.size(); ++i) {
    if (i < kernels.size() && test(std::isalnum, kernels[i])) {
      word += char(std::tolower(static_cast<unsigned char>(kernels[i])));
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

int nvlinks_of(const GpuKind& kind) {
  const assumptions::GpuModel* model = gpu_model(kind.kernels.name);
  return model == nullptr ? assumptions::most_nvlinks : model->nvlinks;
}

int pcie_generation(Rate rate) {
  int generation = assumptions::first_pcie;
  for (const Rate nominal : assumptions::pcie)
    if (nominal < rate) ++generation;
  return std::min(generation, assumptions::last_pcie);
}

}  // namespace tilerail
