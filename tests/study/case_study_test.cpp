#include "study/cases/case_study.hpp"

#include <gmock/gmock.h>

#include "study/simulator.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/machines.hpp"

namespace tilerail::study {
namespace {

using ::testing::ElementsAre;

/// A case with this prediction and measurement, in seconds.
CaseResult result_of(double predicted, double measured) {
  CaseResult result{.what = {}, .job = {testing::shipped("two-gpu"), {}}};
  result.predicted = predicted;
  result.measured.makespans = {measured};
  return result;
}

TEST(CaseSummary, ErrorsAreRelativeToTheMeasurement) {
  const std::vector<CaseResult> results{result_of(1, 2), result_of(3, 2),
                                        result_of(2.2, 2), result_of(2, 2)};
  const CaseSummary summary = summary_of(results).value();
  EXPECT_EQ(summary.cases, 4u);
  EXPECT_DOUBLE_EQ(summary.median, (0.1 + 0.5) / 2);  // of 0, 0.1, 0.5, 0.5
  EXPECT_DOUBLE_EQ(summary.within_95, 0.5);
  EXPECT_DOUBLE_EQ(summary.largest, 0.5);
}

TEST(CaseSummary, CountsTheMeasurementsThatLieInTheirInterval) {
  std::vector<CaseResult> results{result_of(2, 2), result_of(2, 2.5), result_of(2, 3)};
  EXPECT_EQ(summary_of(results)->intervals, 0u);
  EXPECT_FALSE(results[0].in_interval());
  results[0].interval = results[1].interval = PredictedInterval{1.5, 2.4};
  EXPECT_TRUE(results[0].in_interval().value());
  EXPECT_FALSE(results[1].in_interval().value());
  EXPECT_EQ(summary_of(results)->intervals, 2u);
  EXPECT_EQ(summary_of(results)->in_interval, 1u);
}

TEST(CaseSummary, NeedsPredictions) {
  CaseResult measured_only = result_of(1, 1);
  measured_only.predicted.reset();
  EXPECT_FALSE(summary_of(std::vector{measured_only}));
  EXPECT_FALSE(summary_of({}));
}

TEST(CaseTable, CellsWithCommasAreQuotedAndUnknownCellsAreEmpty) {
  const Topology machine = testing::shipped("two-gpu");
  Case c;
  c.sizes = {"64", "32", "64"}, c.label = "one, two";
  c.problem.gemm = "64,32,64", c.policy.name = "gemmex", c.policy.tile = "32";
  CaseStudy study{{c}, machine};
  study.measure("host", {.iterations = 1});
  const std::string csv = csv_table(case_columns().json_rows(study.results()));
  EXPECT_THAT(csv, ::testing::StartsWith("routine,m,n,k,dtype,"));
  EXPECT_THAT(csv, ::testing::HasSubstr("\ngemm,64,32,64,f64,N,N,1,1,h:h:h,"));
  EXPECT_THAT(csv, ::testing::HasSubstr(",\"one, two\","));
  EXPECT_THAT(csv, ::testing::HasSubstr(",,,,")) << "nothing was predicted";
}

/// A case from line 3, with cells that start at these columns.
Case case_of(const std::map<std::string, size_t>& places) {
  Case c;
  c.file = "cases.csv", c.line = 3, c.places = places;
  c.policy.overrides = {"shares=edp"};
  return c;
}

TEST(Case, ErrorsOfOptionsNameTheColumnAndItsCell) {
  const Case c = case_of({{"m", 2}, {"place", 9}, {"set", 15}});
  EXPECT_EQ(c.located({"place", "x", "is not a memory"}).place, "cases.csv:3:9");
  EXPECT_EQ(c.located({"set", "routing=fast", "", "eta"}).place, "cases.csv:3:15");
  EXPECT_STREQ(c.located({"m", "5", "is too large"}).what(),
               "cases.csv:3:2: m: '5' is too large");
}

TEST(Case, ErrorsWithoutACellNameTheCellOfTheirOrigin) {
  Case c = case_of({{"m", 5}, {"k", 7}, {"set", 15}});
  EXPECT_EQ(c.located({"shares", "edp", "needs watts"}).place, "cases.csv:3:15");
  EXPECT_EQ(c.located(fault_of("gemm", "is too large")).place, "cases.csv:3:5");
  EXPECT_EQ(c.located({"devices", "5", "is not a processor"}).place,
            "cases.csv:3:1");  // the whole line
  c.routine = "dot";           // its size as a GEMM is k
  EXPECT_EQ(c.located(fault_of("dot", "is too large")).place, "cases.csv:3:7");
}

TEST(CaseStudy, AnErrorKeepsTheCasesBeforeIt) {
  const Topology machine = testing::shipped("two-gpu");
  Case c;
  c.problem.gemm = "64", c.sizes = {"64", "64", "64"}, c.policy.name = "gemmex",
  c.policy.tile = "64";
  CaseStudy study{{c, c, c, c}, machine};
  RunSettings settings{.warmup = 0, .iterations = 1};
  settings.stop_asked = [&, calls = 0]() mutable {
    if (++calls == 3) throw ExecutionError{"made to fail"};
    return false;
  };
  study.measure("host", settings);
  EXPECT_EQ(study.results().size(), 2u);
  try {
    study.rethrow_failure();
    FAIL() << "no error";
  } catch (const ExecutionError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("made to fail"));
  }
}

// cuBLASXt's overhead of 2.1 ms per GPU would dominate this call.
TEST(CaseStudy, PredictionsExcludeOverheadsOfLibrariesOutsidePlans) {
  const Topology machine = testing::shipped("two-gpu");
  Case c;
  c.problem.gemm = "512", c.sizes = {"512", "512", "512"}, c.policy.name = "cublasxt",
  c.policy.tile = "512";
  CaseStudy study{{c}, machine};
  study.simulate(*simulator_of(machine));
  EXPECT_LT(study.results().front().predicted.value(), 1.5e-3);
  const Plan with = plan_job(machine, c).plan;
  EXPECT_DOUBLE_EQ(with.runtime.call.value, 2 * 2.1e-3);
  EXPECT_GT(simulator_of(machine)->execute(with).makespan(), Seconds{4.2e-3});
}

TEST(CaseStudy, MatricesThatThisMachineCannotHoldNameTheirCase) {
  Topology::Description d = testing::shipped("two-gpu").description();
  for (Memory& memory : d.memories) memory.capacity.reset();
  const Topology machine{d};
  std::vector<Case> cases(2);
  cases[0].problem.gemm = "64", cases[1].problem.gemm = "2M,2M,1";  // 32 TiB
  for (size_t i = 0; i < cases.size(); ++i) {
    cases[i].file = "cases.csv", cases[i].line = 2 + i, cases[i].places = {{"m", 4}};
    cases[i].policy.name = "gemmex", cases[i].policy.tile = i == 0 ? "32" : "1M";
  }
  CaseStudy study{cases, machine};
  expect_input_error([&] { study.measure("host", {.iterations = 1}); },
                     {"cases.csv:3:4: gemm: '"});
}

}  // namespace
}  // namespace tilerail::study
