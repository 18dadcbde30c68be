// Shared parts of importers: kinds of GPUs, connected sets of GPUs, words and numbers of
// tables.
#include <gtest/gtest.h>

#include <set>

#include "model/import/gpu_kind.hpp"
#include "model/import/joined_sets.hpp"
#include "model/import/table_text.hpp"

namespace tilerail {
namespace {

TEST(GpuModels, AreFoundByTheFirstWordThatNamesOne) {
  for (const auto& [kernels, word] : {std::pair{"a100", "a100"},
                                      {"nvidia-a100-sxm4-40gb", "a100"},
                                      {"V100S", "v100"},
                                      {"h100nvl", "h100"},
                                      {"l40s", "l40s"},
                                      {"gh200", "gh200"},
                                      {"one-h20-of-b200", "h20"},
                                      {"AMD MI250X", "mi250x"}})
    EXPECT_EQ(gpu_model(kernels).word, word) << kernels;
  for (const char* kernels : {"", "gpu", "aa100", "a1000", "a100x4"})
    EXPECT_EQ(gpu_model(kernels).word, "") << kernels;
}

TEST(GpuModels, AreInTheTableOnce) {
  std::set<std::string_view> words;
  for (const assumptions::GpuModel& model : assumptions::gpu_models)
    EXPECT_TRUE(words.insert(model.word).second);
}

TEST(JoinedSets, AreJoinedInEitherDirectionOrOverOthers) {
  const std::set<std::pair<size_t, size_t>> pairs{{3, 0}, {5, 3}, {1, 4}, {2, 2}};
  const auto joined = [&](size_t i, size_t j) { return pairs.contains({i, j}); };
  EXPECT_EQ(joined_sets(6, joined),
            (std::vector<std::vector<size_t>>{{0, 3, 5}, {1, 4}, {2}}));
  EXPECT_TRUE(joined_sets(0, joined).empty());
}

TEST(TableText, LinesHaveNoMarksAndEnds) {
  EXPECT_EQ(lines_of("\xef\xbb\xbf"
                     "a\r\n\n\xef\xbb\xbf"
                     "b\n"),
            (std::vector<std::string_view>{"a", "", "b", ""}));
}

TEST(TableText, WordsAndNumbers) {
  EXPECT_EQ(words_of(" a\t b\r"), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(words_of(" ").empty());
  EXPECT_EQ(finite_number("25.5"), 25.5);
  for (const char* text : {"", "inf", "nan", "1 ", " 1", "1x", "1e999"})
    EXPECT_FALSE(finite_number(text)) << text;
}

}  // namespace
}  // namespace tilerail
