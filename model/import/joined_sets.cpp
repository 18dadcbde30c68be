#include "model/import/joined_sets.hpp"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>

namespace tilerail {

std::vector<std::vector<size_t>> joined_sets(
    size_t count, const std::function<bool(size_t, size_t)>& joined) {
  boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS> graph{count};
  for (size_t i = 0; i < count; ++i)
    for (size_t j = 0; j < count; ++j)
      if (i != j && joined(i, j)) add_edge(i, j, graph);
  std::vector<size_t> set_of(count);
  std::vector<std::vector<size_t>> sets(
      boost::connected_components(graph, set_of.data()));
  for (size_t i = 0; i < count; ++i) sets[set_of[i]].push_back(i);
  return sets;
}

}  // namespace tilerail
