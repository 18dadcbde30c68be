#include "study/predict/prediction.hpp"

#include <fmt/format.h>

#include <vector>

#include "model/published/link_map.hpp"

namespace tilerail::study {

std::string link_map_csv(const Topology& topology) {
  const LinkMap map{topology};
  std::vector<MemoryPair> links;
  const size_t memories = topology.description().memories.size();
  for (size_t s = 0; s < memories; ++s)
    for (size_t d = 0; d < memories; ++d)
      if (const MemoryPair pair{MemoryId{s}, MemoryId{d}}; s != d && map.has(pair))
        links.push_back(pair);
  const auto name = [&](MemoryId memory) {
    return std::string_view{topology.memory(memory).name};
  };
  std::string csv = "src,dst,latency_s,bytes_per_s,with_src,with_dst,slowdown\n";
  for (const MemoryPair link : links)
    csv += fmt::format("{},{},{},{},,,\n", name(link.src), name(link.dst),
                       map.latency(link).value,
                       topology.pair_rate(link.src, link.dst).value);
  for (const MemoryPair of : links)
    for (const MemoryPair by : links)
      if (const double factor = map.slowdown(of, by); of != by && factor > 1)
        csv += fmt::format("{},{},,,{},{},{}\n", name(of.src), name(of.dst), name(by.src),
                           name(by.dst), factor);
  return csv;
}

}  // namespace tilerail::study
