#include "model/published/transfer_time.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tilerail {
namespace {

/// A sample with this many bytes and seconds.
TransferSample sample(double bytes, double seconds) {
  return {Bytes{bytes}, Seconds{seconds}};
}

using Samples = std::vector<TransferSample>;

TEST(FitTransferLine, FindsTheLineThatSamplesLieOn) {
  const auto line =
      fit_transfer_line(Samples{sample(1, 5), sample(2, 8), sample(10, 32)});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->latency.value, 2, 1e-12);
  EXPECT_NEAR(line->per_byte.value, 3, 1e-12);
}

// For two samples of each size with equal relative errors, the line lies between them: at
// 1 byte 4 or 6 s, at 100 bytes 400 or 600 s. Weights 1/t^2: at a size mean = sum(1/t) /
// sum(1/t^2) = (10/24) / (52/576) = 60/13.
TEST(FitTransferLine, WeighsErrorsByTheTimes) {
  const auto line = fit_transfer_line(
      Samples{sample(1, 4), sample(1, 6), sample(100, 400), sample(100, 600)});
  ASSERT_TRUE(line);
  EXPECT_NEAR(line->of(Bytes{1}).value, 60.0 / 13, 1e-9);
  EXPECT_NEAR(line->of(Bytes{100}).value, 6000.0 / 13, 1e-9);
}

TEST(FitTransferLine, IsAbsentIfNoLineStartsAboveZeroAndRises) {
  EXPECT_FALSE(fit_transfer_line({}));
  EXPECT_FALSE(fit_transfer_line(Samples{sample(3, 5), sample(3, 6)}));
  EXPECT_FALSE(fit_transfer_line(Samples{sample(1, 1), sample(2, 4)}));  // starts at -2
  EXPECT_FALSE(fit_transfer_line(Samples{sample(1, 4), sample(2, 3)}));  // falls
}

}  // namespace
}  // namespace tilerail
