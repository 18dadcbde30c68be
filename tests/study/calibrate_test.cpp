#include "study/calibrate.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/expect_error.hpp"

namespace tilerail::study {
namespace {

TEST(RecordedGpus, TheMachineTakesTheGivenNameAndIsSummedUp) {
  const std::string file =
      TILERAIL_SOURCE_DIR "/experiments/results/hgx-h200-1/measurements.json";
  const GpuCalibration gpus = recorded_gpus(file, "mine");
  EXPECT_EQ(gpus.spread.name(), "mine");
  EXPECT_EQ(gpus.plain.name(), "mine-plain");
  EXPECT_THAT(gpus.measurements, ::testing::HasSubstr("\"mine\""));
  for (const auto& residuals : {gpus.spread_copies, gpus.plain_copies, gpus.kernels}) {
    ASSERT_TRUE(residuals);
    EXPECT_LE(residuals->median, residuals->within_95);
    EXPECT_LE(residuals->within_95, std::abs(residuals->largest));
    EXPECT_FALSE(residuals->what.empty());
  }
  EXPECT_THAT(gpus.warnings,
              ::testing::IsEmpty());  // recorded measurements cannot be repeated
}

TEST(RecordedGpus, AFileThatIsNotThereIsNamed) {
  expect_input_error([] { recorded_gpus("absent.json", {}); },
                     {"'absent.json' cannot be read"});
}

}  // namespace
}  // namespace tilerail::study
