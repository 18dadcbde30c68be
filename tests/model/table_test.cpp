// One description of a struct as JSON, CSV and table.
#include "model/base/table.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace tilerail::testing {
namespace {

using ::testing::ElementsAre;

struct Part {
  double seconds;
};

struct Row {
  std::string name;
  std::optional<Part> part;
};

Columns<Row> columns() {
  const auto percent = [](const Json& cell) {
    return fmt::format("{:.0f} %", 100 * cell.get<double>());
  };
  return {{"name", &Row::name, "name"},
          {Columns<Part>{"part_s", &Part::seconds}, &Row::part},
          {"", [](const Row& row) { return row.part ? row.part->seconds / 4 : 0; },
           "share", percent},
          {Columns<Part>{"other_s", &Part::seconds, "other"}, &Row::part}};
}

const std::vector<Row> rows{{"a", Part{1}}, {"b,c", {}}};

TEST(CellText, IsEmptyForNullOnly) {
  EXPECT_EQ(cell_text({}), "");
  EXPECT_EQ(cell_text("a"), "a");
  EXPECT_EQ(cell_text(7), "7");
  EXPECT_EQ(cell_text(0.25), "0.25");
  EXPECT_EQ(cell_text(false), "false");
}

TEST(Columns, WithANameAreCells) {
  const Json cells = columns().json(rows[0]);
  EXPECT_EQ(cells.dump(), R"({"name":"a","part_s":1.0,"other_s":1.0})");
}

TEST(Columns, OfAnAbsentPartAreNullInJsonAndEmptyInCsv) {
  EXPECT_TRUE(columns().json(rows[1])["part_s"].is_null());
  EXPECT_EQ(csv_table(columns().json_rows(rows)),
            "name,part_s,other_s\na,1,1\n\"b,c\",,\n");
}

TEST(Columns, WithAHeadingAreShownToUsers) {
  EXPECT_THAT(columns().lines(rows),
              ElementsAre(ElementsAre("name", "share", "other"),
                          ElementsAre("a", "25 %", "1"), ElementsAre("b,c", "0 %", "-")));
}

TEST(Columns, OfOneNameTakeTheLastValue) {
  const Columns<Row> twice{{"value", &Row::name},
                           {"value", [](const Row& row) {
                              return row.part ? std::optional{row.part->seconds}
                                              : std::nullopt;
                            }}};
  EXPECT_EQ(twice.json(rows[0])["value"], 1.0);
  EXPECT_EQ(twice.json(rows[1])["value"], "b,c");
}

}  // namespace
}  // namespace tilerail::testing
