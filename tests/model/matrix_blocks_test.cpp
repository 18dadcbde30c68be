// Blocks of a matrix on two hosts of a machine.
#include "model/machine/matrix_blocks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/two_hosts.hpp"

namespace tilerail {

bool operator==(const MatrixBlock& a, const MatrixBlock& b) {
  return a.memory == b.memory && a.row == b.row && a.col == b.col && a.rows == b.rows &&
         a.cols == b.cols;
}

namespace {

class MatrixBlocks : public ::testing::Test {
 protected:
  std::vector<MatrixBlock> blocks(int64_t rows, int64_t cols, const char* place) const {
    return matrix_blocks(rows, cols, small_machine::memory(machine, place), machine);
  }
  Topology machine{small_machine::two_hosts()};
  MemoryId h0 = small_machine::memory(machine, "h0"),
           h1 = small_machine::memory(machine, "h1");
};

TEST_F(MatrixBlocks, AreAsManyAsHosts) {
  EXPECT_THAT(blocks(30, 50, "h/cols"),
              ::testing::ElementsAre(MatrixBlock{h0, 0, 0, 30, 25},
                                     MatrixBlock{h1, 0, 25, 30, 25}));
  EXPECT_THAT(blocks(30, 50, "h/rows"),
              ::testing::ElementsAre(MatrixBlock{h0, 0, 0, 15, 50},
                                     MatrixBlock{h1, 15, 0, 15, 50}));
}

TEST_F(MatrixBlocks, MeetAtMultiplesOf64IfTheyAreLarge) {
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

TEST_F(MatrixBlocks, AreNeverEmpty) {
  EXPECT_THAT(blocks(7, 1, "h/cols"),
              ::testing::ElementsAre(MatrixBlock{h1, 0, 0, 7, 1}));
  EXPECT_THAT(blocks(0, 5, "h/rows"), ::testing::IsEmpty());
}

TEST_F(MatrixBlocks, AnyOtherPlaceHoldsTheWhole) {
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

}  // namespace
}  // namespace tilerail
