// The table [uncertainty] of machine files.
#include "model/machine/topology.hpp"

#include <gmock/gmock.h>

#include "model/machine/topology_toml.hpp"
#include "model/machine/topology_writer.hpp"
#include "tests/support/bad_topology.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

using namespace bad_topology;

const std::string all = R"([uncertainty]
kernels = { f64 = 0.02, bf16 = 0.05 }
other_shapes = { f64 = 0.13 }
load = 0.06
copies = 0.01
columns = 0.07
issue = 0.1
source = "s"

)";

/// The good machine with this table.
std::string with(const std::string& table) {
  std::string text = good;
  return text.insert(text.find("[issue]"), table);
}

Uncertainty read(const std::string& text) {
  return read_topology(text, "m.toml").description().uncertainty.value();
}

void expect_all(const Uncertainty& u) {
  ASSERT_EQ(u.kernels.size(), 2U);
  EXPECT_EQ(u.of_kernels(DType::f64)->measured_shapes, 0.02);
  EXPECT_EQ(u.of_kernels(DType::f64)->other_shapes, 0.13);
  EXPECT_EQ(u.of_kernels(DType::bf16)->measured_shapes, 0.05);
  EXPECT_EQ(u.of_kernels(DType::bf16)->other_shapes, 0.05) << "not told apart";
  EXPECT_FALSE(u.of_kernels(DType::f32));
  EXPECT_EQ(u.load, 0.06);
  EXPECT_EQ(u.copies, 0.01);
  EXPECT_EQ(u.columns, 0.07);
  EXPECT_EQ(u.issue, 0.1);
  EXPECT_EQ(u.source, "s");
}

TEST(UncertaintyToml, IsReadAndWrittenAndReadAgain) {
  const Topology machine = read_topology(with(all), "m.toml");
  expect_all(machine.description().uncertainty.value());
  expect_all(read(to_toml(machine.description())));
  EXPECT_FALSE(read_topology(good, "m.toml").description().uncertainty);
  EXPECT_THAT(to_toml(read_topology(good, "m.toml").description()),
              Not(::testing::HasSubstr("uncertainty")));
}

TEST(UncertaintyToml, KernelsAndCopiesAreEnough) {
  const std::string least =
      "[uncertainty]\nkernels = { f32 = 0 }\ncopies = 0.5\nsource = \"s\"\n\n";
  const Uncertainty u = read(to_toml(read_topology(with(least), "m.toml").description()));
  EXPECT_EQ(u.of_kernels(DType::f32)->other_shapes, 0);
  EXPECT_EQ(u.copies, 0.5);
  EXPECT_EQ(u.issue, 0);
}

/// Expects an error after replacing one text of the table.
void expect_refused_with(const std::string& from, const std::string& to,
                         const std::vector<std::string>& quoted) {
  std::string table = all;
  const size_t at = table.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  std::vector<std::string> expected{"m.toml:"};
  expected.insert(expected.end(), quoted.begin(), quoted.end());
  const std::string text = with(table.replace(at, from.size(), to));
  try {
    read_topology(text, "m.toml");
    ADD_FAILURE() << to << " is read";
  } catch (const InputError& error) {
    for (const std::string& quote : expected)
      EXPECT_THAT(error.what(), ::testing::HasSubstr(quote));
  }
}

TEST(UncertaintyToml, BadValuesAreRefusedAtTheirPlace) {
  expect_refused_with("f64 = 0.02", "f64 = 1.5",
                      {"uncertainty: kernels: f64: '1.5' is out of range",
                       "expected a share of the time, 0 to 0.99"});
  expect_refused_with("copies = 0.01", "copies = -0.01",
                      {"uncertainty: copies: '-0.01' is out of range"});
  expect_refused_with("columns = 0.07", "columns = nan", {"columns", "expected"});
  expect_refused_with("load = 0.06", "load = \"6 %\"",
                      {"load: '6 %'", "is not a number"});
  expect_refused_with("issue = 0.1", "issues = 0.1",
                      {"'issues' is an unknown key", "issue"});
  expect_refused_with("f64 = 0.02", "f63 = 0.02", {"'f63' is an unknown key", "f64"});
  expect_refused_with("{ f64 = 0.13 }", "{ f32 = 0.13 }",
                      {"f32: '0.13' is of a type that 'kernels' lacks"});
  expect_refused_with("copies = 0.01\n", "", {"uncertainty: key 'copies' is missing"});
  expect_refused_with("source = \"s\"", "source = \"t\"", {"source: 't' is unknown"});
}

TEST(UncertaintyToml, AnUncertaintyBuiltInCodeIsCheckedToo) {
  auto d = read_topology(with(all), "m.toml").description();
  d.uncertainty->kernels[0].other_shapes = 2;
  expect_input_error([&] { Topology{d}; },
                     {"uncertainty", "'2' is out of range", "0 to 0.99"});
}

}  // namespace
}  // namespace tilerail
