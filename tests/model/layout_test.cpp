// Layouts: blocks, owners, equality and their texts.
#include "model/layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/expect_error.hpp"
#include "tests/support/layouts.hpp"
#include "tests/support/shipped.hpp"
#include "tests/support/two_hosts.hpp"

namespace tilerail {

bool operator==(const MatrixBlock& a, const MatrixBlock& b) {
  return a.memory == b.memory && a.row == b.row && a.col == b.col && a.rows == b.rows &&
         a.cols == b.cols;
}

namespace {

class LayoutBlocks : public ::testing::Test {
 protected:
  std::vector<MatrixBlock> blocks(int64_t rows, int64_t cols, const char* place) const {
    return testing::layout(machine, place).blocks(rows, cols);
  }
  Topology machine{small_machine::two_hosts()};
  MemoryId h0 = small_machine::memory(machine, "h0"),
           h1 = small_machine::memory(machine, "h1");
};

TEST_F(LayoutBlocks, AreAsManyAsHosts) {
  EXPECT_THAT(blocks(30, 50, "h/cols"),
              ::testing::ElementsAre(MatrixBlock{h0, 0, 0, 30, 25},
                                     MatrixBlock{h1, 0, 25, 30, 25}));
  EXPECT_THAT(blocks(30, 50, "h/rows"),
              ::testing::ElementsAre(MatrixBlock{h0, 0, 0, 15, 50},
                                     MatrixBlock{h1, 15, 0, 15, 50}));
}

TEST_F(LayoutBlocks, MeetAtMultiplesOf64IfTheyAreLarge) {
  EXPECT_THAT(blocks(1, 10000, "h/cols"),
              ::testing::ElementsAre(MatrixBlock{h0, 0, 0, 1, 4992},
                                     MatrixBlock{h1, 0, 4992, 1, 5008}));
}

TEST(EvenBorders, DeviateFromEqualPartsByLessThanOneUnit) {
  EXPECT_THAT(even_borders(1584, 3),
              ::testing::ElementsAre(0, 512, 1088, 1584));  // of 528
  for (const int parts : {2, 3, 5, 6, 7})
    for (int64_t extent = 0; extent < 5000; extent += 7) {
      const auto borders = even_borders(extent, parts);
      ASSERT_EQ(borders.size(), size_t(parts) + 1);
      EXPECT_EQ(borders.front(), 0);
      EXPECT_EQ(borders.back(), extent);
      const int64_t unit = extent >= parts * 512 ? 64 : 1;
      for (int i = 0; i < parts; ++i) {
        const int64_t part = borders[size_t(i) + 1] - borders[size_t(i)];
        EXPECT_LE(std::abs(part * parts - extent), unit * parts)
            << extent << " in " << parts;
        EXPECT_EQ(borders[size_t(i)] % unit, 0);
      }
    }
}

TEST_F(LayoutBlocks, AreNeverEmpty) {
  EXPECT_THAT(blocks(7, 1, "h/cols"),
              ::testing::ElementsAre(MatrixBlock{h1, 0, 0, 7, 1}));
  EXPECT_THAT(blocks(0, 5, "h/rows"), ::testing::IsEmpty());
}

TEST_F(LayoutBlocks, AnyOtherPlaceHoldsTheWhole) {
  for (const char* place : {"h0", "g1", "h*"}) {
    const MemoryId id = small_machine::memory(machine, place);
    EXPECT_THAT(blocks(7, 9, place), ::testing::ElementsAre(MatrixBlock{id, 0, 0, 7, 9}));
  }
}

// Borders for twice as many parts include these borders, so that grids of GPUs
// distributed over the hosts are cut between pages.
TEST(EvenBorders, OfTwiceAsManyPartsIncludeTheBordersOfFewerParts) {
  for (const int64_t extent : {7, 100, 500, 10000, 16384})
    for (const int parts : {1, 2, 4}) {
      const auto coarse = even_borders(extent, parts),
                 fine = even_borders(extent, 2 * parts);
      for (size_t i = 0; i < coarse.size(); ++i)
        EXPECT_EQ(coarse[i], fine[2 * i]) << extent;
    }
}

std::vector<MemoryId> memories(int count) {
  std::vector<MemoryId> ids;
  for (int i = 0; i < count; ++i) ids.push_back(MemoryId{10 + i});
  return ids;
}

/// Every element belongs to the block that ScaLAPACK's formulas give: row i to process
/// row (i / mb) mod p, column j to process column (j / nb) mod q.
TEST(Layouts, DealBlocksAsScalapackDoes) {
  const int p = 2, q = 3;
  const int64_t mb = 4, nb = 5, rows = 23, cols = 31;
  const Layout layout = Layout::block_cyclic({p, q, 1}, mb, nb, memories(6));
  std::vector<int> seen(size_t(rows * cols));
  for (const MatrixBlock& b : layout.blocks(rows, cols))
    for (int64_t i = b.row; i < b.row + b.rows; ++i)
      for (int64_t j = b.col; j < b.col + b.cols; ++j) {
        ++seen[size_t(i + j * rows)];
        EXPECT_EQ(b.memory.value, 10 + (i / mb) % p + p * ((j / nb) % q))
            << i << " " << j;
      }
  EXPECT_THAT(seen, ::testing::Each(1));
  EXPECT_EQ(layout.count_blocks(rows, cols), 6 * 7);
}

TEST(Layouts, ReplicasFollowTheMembersOfTheFirst) {
  const Layout layout = Layout::block_cyclic({2, 1, 2}, 8, 8, memories(4));
  EXPECT_EQ(layout.blocks(16, 8, 0)[1].memory, MemoryId{11});
  EXPECT_EQ(layout.blocks(16, 8, 1)[1].memory, MemoryId{13});
  EXPECT_FALSE(layout.is_replicated()) << "no member has the whole";
  EXPECT_TRUE(Layout::replicated(memories(3)).is_replicated());
  EXPECT_EQ(Layout::replicated({MemoryId{2}, MemoryId{1}}),
            Layout::replicated({MemoryId{1}, MemoryId{2}}));
}

TEST(Layouts, IrregularIntervalsBelongToTheirCoordinates) {
  const LayoutCuts rows{0, {3, 10}, {1, 0, 1}};
  const Layout layout{{2, 1, 1}, rows, {}, memories(2)};
  EXPECT_THAT(layout.blocks(12, 4),
              ::testing::ElementsAre(MatrixBlock{MemoryId{11}, 0, 0, 3, 4},
                                     MatrixBlock{MemoryId{10}, 3, 0, 7, 4},
                                     MatrixBlock{MemoryId{11}, 10, 0, 2, 4}));
  EXPECT_THAT(layout.blocks(8, 4),
              ::testing::ElementsAre(MatrixBlock{MemoryId{11}, 0, 0, 3, 4},
                                     MatrixBlock{MemoryId{10}, 3, 0, 5, 4}));
}

/// Different descriptions of the same owners are equal.
TEST(Layouts, AreEqualIfTheirOwnersAre) {
  const MemoryId m{7};
  EXPECT_EQ(Layout::block_cyclic({1, 1, 1}, 64, 64, {m}), Layout{m});
  EXPECT_EQ(Layout::block_cyclic({1, 2, 1}, 64, 8, memories(2)),
            Layout::block_cyclic({1, 2, 1}, 32, 8, memories(2)));
  EXPECT_NE(Layout::of_rows(memories(2)), Layout::of_columns(memories(2)));
  const auto rows = [](std::vector<int64_t> borders, std::vector<int> coordinates) {
    const LayoutCuts cuts{0, std::move(borders), std::move(coordinates)};
    return Layout{{2, 1, 1}, cuts, {}, memories(2)};
  };
  EXPECT_EQ(rows({3, 5}, {0, 0, 1}), rows({5}, {0, 1}));
  EXPECT_EQ(rows({0, 5, 5, 9}, {1, 0, 1, 1, 0}), rows({5, 9}, {0, 1, 0}));
  EXPECT_NE(rows({5}, {0, 1}), rows({5}, {1, 0}));
  const std::vector<MemoryId> swapped{memories(2)[1], memories(2)[0]};
  EXPECT_EQ((Layout{{1, 1, 2}, {}, {}, swapped}), Layout::replicated(memories(2)));
  EXPECT_NE(Layout::of_rows(memories(2)), Layout{MemoryId{10}});
}

TEST(Layouts, ContradictionsAreRefused) {
  const auto refused = [](LayoutGrid grid, LayoutCuts rows, int members,
                          const char* what) {
    expect_input_error([&] { Layout{grid, rows, {}, memories(members)}; }, {what});
  };
  refused({2, 2, 1}, {}, 3, "members of a layout: '3'");
  refused({0, 2, 1}, {}, 2, "grid of a layout");
  refused({2, 1, 1}, {0, {5}, {0, 2}}, 2, "coordinate of a layout: '2'");
  refused({2, 1, 1}, {0, {5}, {0}}, 2, "intervals of a layout");
  refused({2, 1, 1}, {0, {5, 3}, {0, 1, 0}}, 2, "border of a layout: '3'");
}

TEST(LayoutTexts, ReadBack) {
  const Topology machine = test::shipped("hgx-h200");
  for (const char* text :
       {"rows@gpu0+gpu1", "columns@gpu0..gpu7", "copies@gpu0..gpu2+gpu5", "gpu3", "g*",
        "grid(2x2)@gpu0..gpu3", "grid(2x2x2)@gpu0..gpu7",
        "cyclic(2x2,512x256)@gpu4..gpu7", "rows@gpu1+gpu0", "cyclic(1x2,64)@gpu0+gpu1",
        "irregular(2x2,even,64)@gpu0..gpu3",
        "irregular(1x2,even,0/100/1/300/0)@gpu0+gpu1",
        "irregular(2x1x2,1/7/0,even)@gpu0..gpu3", "irregular(2x1,0/0/1,even)@gpu0+gpu1"})
    EXPECT_EQ(layout_text(testing::layout(machine, text), machine), text);
  for (const auto& [text, same] : {std::pair{"g*", "copies@gpus"},
                                   {"grid(4x2)", "grid(4x2)@gpu0..gpu7"},
                                   {"cyclic(1x2,64)@gpus", "cyclic(1x2,64x64)@gpu0+gpu1"},
                                   {"h/cols", "host"}})
    EXPECT_EQ(testing::layout(machine, text), testing::layout(machine, same)) << text;
}

TEST(LayoutTexts, WrongOnesNameTheirFault) {
  const Topology machine = test::shipped("two-gpu");
  const auto refused = [&](const char* text, const std::vector<std::string>& words) {
    expect_input_error([&] { layout_from_text(text, machine); }, words);
  };
  refused("rows@gpu0+gpu9", {"place: 'rows@gpu0+gpu9' names 'gpu9'", "two-gpu"});
  refused("cyclic(1x2,8x8x2)", {"has 3 sizes of a block"});
  refused("cyclic(1x2,2X2)", {"has '2X2' as a size", "digits"});
  refused("grid(2x2)@gpus", {"names 2 memories", "expected 4"});
  refused("grid(2)@gpus", {"PxQ"});
  refused("grid(0x2)", {"has a size of 0"});
  refused("cyclic(1x2)", {"cyclic(PxQ,ROWSxCOLUMNS)"});
  refused("cyclic(1x2,x)", {"place"});
  refused("irregular(1x2,even)", {"irregular(PxQ,ROWS,COLUMNS)"});
  refused("irregular(1x2,even,0)", {"has a size of 0"});
  refused("irregular(1x2,0/9,64)", {"one coordinate for each interval"});
  refused("irregular(1x2,even,0/9)", {"one coordinate for each interval"});
  refused("irregular(1x2,even,0/9/2)", {"coordinate of a layout", "less than 2"});
  refused(
      "irregular(1x2,even,0/9/1/8/0)",
      {"place: 'irregular(1x2,even,0/9/1/8/0)' has '8' as border", "ascending borders"});
  refused("irregular(1x2,even,0/2M/1/2000000M/0)",
          {"'irregular(1x2,even,0/2M/1/2000000M/0)' has '2000000M' as a size", "2^40"});
  refused("rows@gpu1..gpu0", {"names 0 memories", "at least one"});
  EXPECT_FALSE(layout_from_text("gpu0", machine)) << "a memory is not a layout text";
  EXPECT_FALSE(layout_from_text("diagonal@gpus", machine));
}

}  // namespace
}  // namespace tilerail
