#include "backends/cuda/run/issuer_pool.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "model/base/threads.hpp"

namespace tilerail::cuda {
namespace {

TEST(IssuerPool, GrowsAsFarAsThreadsCanBeStartedAndStaysUsable) {
  IssuerPool pool;
  const auto runs = [&](size_t count) {
    std::vector<int> done(count, 0);
    pool.run(count, [&](size_t i) { ++done[i]; });
    EXPECT_THAT(done, ::testing::Each(1));
  };
  pool.grow(1);
  {
    const ThreadLimit few{1};
    EXPECT_THROW(pool.grow(4), ThreadShortage);
  }
  runs(2);
  pool.grow(4);
  runs(4);
  runs(1);
}

}  // namespace
}  // namespace tilerail::cuda
