#include "model/base/text.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tilerail {
namespace {

const std::string euro = "\xe2\x82\xac",
                  clef = "\xf0\x9d\x84\x9e";  // characters of three and four bytes

TEST(Text, IsCutBetweenLetters) {
  const std::string text = "a" + euro + clef + "b";
  const std::string expected[] = {"",         "a",        "a",
                                  "a",        "a" + euro, "a" + euro,
                                  "a" + euro, "a" + euro, "a" + euro + clef,
                                  text};
  for (size_t most = 0; most < std::size(expected); ++most)
    EXPECT_EQ(cut(text, most), expected[most]) << most;
  EXPECT_EQ(cut(text, 1000), text);
  EXPECT_EQ(cut("\x80\x80\x80\x80\x80\x80", 5).size(), 5u);  // invalid UTF-8
}

TEST(Text, ALongTextIsShortenedToItsBeginAndItsEnd) {
  EXPECT_EQ(shortened("12345678", 8), "12345678");
  EXPECT_EQ(shortened("1234567890", 8), "1234...90");
  EXPECT_EQ(shortened("123" + euro + "4567" + euro, 8), "123...")
      << "no part of a letter";
}

TEST(Text, LettersAreCountedAndNotBytes) {
  EXPECT_EQ(letters_in(""), 0u);
  EXPECT_EQ(letters_in("a" + euro + "b"), 3u);
}

TEST(Text, EscapesControlCharactersOfTerminals) {
  EXPECT_EQ(escaped("plain " + euro), "plain " + euro);
  EXPECT_EQ(escaped("\x1b[31m\n\x7f"), "\\x1b[31m\\x0a\\x7f");
  EXPECT_EQ(escaped("a\xff" + euro + "\xe2\x82"), "a\\xff" + euro + "\\xe2\\x82");
}

TEST(Text, CellsOfTablesAreEscapedBeforeTheyAreAligned) {
  EXPECT_EQ(aligned({{"a\x1b", "b"}, {"c", "d"}}, "l"), "a\\x1b  b\nc      d\n");
}

}  // namespace
}  // namespace tilerail
