#include "model/base/name_pattern.hpp"

#include <gtest/gtest.h>

#include "model/base/known_names.hpp"
#include "tests/support/expect_error.hpp"

namespace tilerail {
namespace {

using Names = std::vector<std::string>;

TEST(NamePattern, ExpandsTheLastBracketFirst) {
  EXPECT_EQ(expanded_names("n[0-1]g[0,2-3]", 6),
            (Names{"n0g0", "n0g2", "n0g3", "n1g0", "n1g2", "n1g3"}));
  EXPECT_EQ(expanded_names("plain", 1), Names{"plain"});
  EXPECT_EQ(expanded_names("", 1), Names{""});
  EXPECT_EQ(expanded_names("*[0-1]?", 2), (Names{"*0?", "*1?"}));
}

TEST(NamePattern, LeadingZerosFillTheNumbers) {
  EXPECT_EQ(expanded_names("n[08-11]", 4), (Names{"n08", "n09", "n10", "n11"}));
  EXPECT_EQ(expanded_names("n[8-9,0]", 3), (Names{"n8", "n9", "n0"}));
}

TEST(NamePattern, MatchesWholeNames) {
  EXPECT_TRUE(fits_pattern("host*->gpu7", "host1->gpu7"));
  EXPECT_FALSE(fits_pattern("host*->gpu7", "host1->gpu70"));
  EXPECT_TRUE(fits_pattern("*->*7*", "host7->gpu7"));
  EXPECT_TRUE(fits_pattern("*ab", "aab"));
  EXPECT_TRUE(fits_pattern("**", ""));
  EXPECT_FALSE(fits_pattern("", "a"));
  EXPECT_TRUE(fits_pattern("a?c*", "abc"));
  EXPECT_FALSE(fits_pattern("a?c", "ac"));
}

TEST(NamePattern, ManyStarsTakeNoTime) {
  std::string stars;
  for (int i = 0; i < 60; ++i) stars += "*a";
  EXPECT_FALSE(fits_pattern(stars + "b", std::string(128, 'a')));
}

TEST(NamePattern, RefusesInvalidRanges) {
  for (const char* text : {"g[", "gpu[0-1", "g[0]h[", "g[]", "g[a]", "g[1-]", "g[-1]",
                           "g[2-1]", "g[1-2-3]", "g[1,,2]", "g[9999999999]"})
    expect_input_error([&] { expanded_names(text, 100); },
                       {text, "expected such as [0-7]"});
  expect_input_error([] { expanded_names("g[0-999999999]", 100); },
                     {"too many names; expected at most 100"});
  expect_input_error([] { expanded_names("g[0-9][0-9][0-9]", 999); }, {"at most 999"});
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
