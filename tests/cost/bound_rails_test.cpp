// The bound for copies that are split over several routes of a pair.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cost/bound.hpp"
#include "tests/support/small_machine.hpp"

namespace tilerail {
namespace {

/// 18 GPUs on `count` rails, over which every copy is split; in total 20 GB/s for each
/// GPU except the first, which has 280. The host is behind the first GPU.
Topology rails(int count) {
  std::vector<std::string> names;
  for (int rail = 0; rail < count; ++rail) names.push_back("r" + std::to_string(rail));
  auto d = small_machine::unlinked("h", "g", 18, names);
  d.kernels[0].gemm = {small_machine::gemms(DType::f64, {{1024, 10}})};
  small_machine::add_links(d, "h", "r0", 2000);
  std::vector<std::vector<std::pair<LinkId, LinkId>>> links(
      18);  // by GPU and rail: to the GPU, from the GPU
  for (size_t gpu = 0; gpu < links.size(); ++gpu)
    for (const std::string& rail : names)
      links[gpu].push_back(small_machine::add_links(d, "g" + std::to_string(gpu), rail,
                                                    (gpu == 0 ? 280.0 : 20.0) / count));
  for (size_t from = 0; from < links.size(); ++from)
    for (size_t to = 0; to < links.size(); ++to)
      for (size_t rail = 0; from != to && rail < names.size(); ++rail)
        d.routes.push_back({MemoryId{from + 1},
                            MemoryId{to + 1},
                            {links[from][rail].first, links[to][rail].second},
                            "s"});
  return Topology{std::move(d)};
}

// The first GPU sends less than the others need, so they receive some from each other.
// With so many GPUs, copies from any others are one flow, which loads the links that
// their routes share in proportion to the parts.
TEST(BoundOfRails, TwoRailsEqualOneRailOfTwiceTheWidth) {
  const Topology one = rails(1), two = rails(2);
  GemmProblem p;
  p.m = p.n = p.k = 4096, p.beta = 0;
  p.place_a = p.place_b = p.place_c = one.gpus()[0];
  const Bound wide = lower_bound(checked(p), one, one.gpus()),
              split = lower_bound(checked(p), two, two.gpus());
  EXPECT_NEAR(split.time.value, wide.time.value, 4e-4 * wide.time.value);
}

}  // namespace
}  // namespace tilerail
