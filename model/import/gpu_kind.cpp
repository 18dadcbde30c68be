#include "model/import/gpu_kind.hpp"

#include <algorithm>
#include <cctype>

#include "model/import/assumptions.hpp"

namespace tilerail {

int pcie_generation(std::string_view kernels) {
  std::string word;
  for (std::size_t i = 0; i <= kernels.size(); ++i) {
    const auto letter = i < kernels.size() ? static_cast<unsigned char>(kernels[i]) : '\0';
    if (std::isalnum(letter) != 0) {
      word += static_cast<char>(std::tolower(letter));
      continue;
    }
    const auto* const known =
        std::ranges::find(assumptions::gpu_generations, word, [](const auto& generation) { return generation.first; });
    if (known != assumptions::gpu_generations.end()) return known->second;
    word.clear();
  }
  return assumptions::other_generation;
}

int pcie_generation(Rate rate) {
  int generation = assumptions::first_pcie;
  for (const Rate nominal : assumptions::pcie)
    if (nominal < rate) ++generation;
  return std::min(generation, assumptions::last_pcie);
}

}  // namespace tilerail
