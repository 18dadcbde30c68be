#include "model/import/gpu_kind.hpp"

#include <algorithm>
#include <boost/algorithm/string.hpp>

namespace tilerail {

assumptions::GpuModel gpu_model(std::string_view kernels) {
  std::vector<std::string> words;
  boost::split(words, boost::to_lower_copy(std::string{kernels}), !boost::is_alnum());
  for (std::string& word : words)
    while (!word.empty()) {
      const auto known =
          std::ranges::find(assumptions::gpu_models, word, &assumptions::GpuModel::word);
      if (known != assumptions::gpu_models.end()) return *known;
      if (!boost::is_alpha()(word.back())) break;
      word.pop_back();
    }
  return {};
}

int pcie_generation(Rate rate) {
  const auto slower = std::ranges::count_if(assumptions::pcie,
                                            [=](Rate nominal) { return nominal < rate; });
  return std::min(assumptions::first_pcie + int(slower), assumptions::last_pcie);
}

}  // namespace tilerail
