#include "model/base/name_pattern.hpp"

#include <gtest/gtest.h>

#include "model/base/known_names.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

using Names = std::vector<std::string>;

TEST(NamePattern, ExpandsTheLastBracketFirst) {
  EXPECT_EQ(NamePattern{"n[0-1]g[0,2-3]"}.expanded(6),
            (Names{"n0g0", "n0g2", "n0g3", "n1g0", "n1g2", "n1g3"}));
  EXPECT_EQ(NamePattern{"plain"}.expanded(1), Names{"plain"});
  EXPECT_EQ(NamePattern{""}.expanded(1), Names{""});
  EXPECT_EQ(NamePattern{"*[0-1]?"}.expanded(2), (Names{"*0?", "*1?"}));
}

TEST(NamePattern, LeadingZerosFillTheNumbers) {
  EXPECT_EQ(NamePattern{"n[08-11]"}.expanded(4), (Names{"n08", "n09", "n10", "n11"}));
  EXPECT_TRUE(NamePattern{"n[08-11]"}.matches("n09"));
  EXPECT_FALSE(NamePattern{"n[08-11]"}.matches("n9"));
  EXPECT_FALSE(NamePattern{"n[8-11]"}.matches("n09"));
}

TEST(NamePattern, MatchesWholeNames) {
  EXPECT_TRUE(NamePattern{"host*->gpu[0-7]"}.matches("host1->gpu7"));
  EXPECT_FALSE(NamePattern{"host*->gpu[0-7]"}.matches("host1->gpu70"));
  EXPECT_TRUE(NamePattern{"gpu[0-7][0-9]"}.matches("gpu70"));
  EXPECT_TRUE(NamePattern{"a?c*"}.matches("abc"));
  EXPECT_FALSE(NamePattern{"a?c"}.matches("ac"));
}

TEST(NamePattern, ManyStarsTakeNoTime) {
  std::string stars;
  for (int i = 0; i < 60; ++i) stars += "*a";
  EXPECT_FALSE(NamePattern{stars + "b"}.matches(std::string(128, 'a')));
}

TEST(NamePattern, RefusesInvalidRanges) {
  for (const char* text : {"g[", "gpu[0-1", "g[0]h[", "g[]", "g[a]", "g[1-]", "g[-1]",
                           "g[2-1]", "g[1-2-3]", "g[1,,2]", "g[9999999999]"})
    expect_input_error([&] { NamePattern{text}; }, {text, "expected such as [0-7]"});
  expect_input_error([] { NamePattern{"g[0-999999999]"}.expanded(100); },
                     {"too many names; expected at most 100"});
  expect_input_error([] { NamePattern{"g[0-9][0-9][0-9]"}.expanded(999); },
                     {"at most 999"});
}

TEST(KnownNames, ListsAFew) {
  EXPECT_EQ(known_names(Names{}), "known: none");
  EXPECT_EQ(known_names(Names{"b", "a"}), "known: 'b', 'a'");
  Names many;
  for (int i = 0; i < 20; ++i) many.push_back("gpu" + std::to_string(i));
  EXPECT_EQ(known_names(many),
            "known: 'gpu0', 'gpu1', 'gpu2', 'gpu3', 'gpu4', 'gpu5', 'gpu6', 'gpu7' "
            "and 12 more");
}

}  // namespace
}  // namespace tilerail
