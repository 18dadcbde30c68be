#include "model/base/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tilerail {
namespace {

using namespace std::string_literals;

TEST(InputError, IsComposedOfItsFields) {
  EXPECT_STREQ(InputError("tile", "0", "is too small", "at least 1", "a.csv:3").what(),
               "a.csv:3: tile: '0' is too small; expected at least 1");
  EXPECT_STREQ(InputError("tile", "x", "", "a size").what(), "tile: 'x' is not a size");
  EXPECT_STREQ(InputError("", "x", "is unknown").what(), "'x' is unknown");
  EXPECT_STREQ(missing("tile", "a size").what(), "tile: is missing; expected a size");
  EXPECT_STREQ(fault_of("", "no rows").what(), "no rows");
  EXPECT_STREQ(InputError("a", "b\0c"s, "d\0e"s).what(), "a: 'b\\x00c' d\\x00e");
}

TEST(InputError, ListsTheExistingNames) {
  const std::vector<std::string> names{"one", "two"};
  EXPECT_STREQ(unknown_name("policy", "three", "a policy", names).what(),
               "policy: 'three' is not a policy; expected one of: one, two");
}

TEST(InputError, IsFoundAtPlacesFromTheInnermostOut) {
  const InputError error =
      out_of_range("tile", "0", "at least 1").at("row 2").at("a.csv");
  EXPECT_EQ(error.place, "a.csv: row 2");
  EXPECT_STREQ(error.what(),
               "a.csv: row 2: tile: '0' is out of range; expected at least 1");
  EXPECT_EQ(given_twice("tile").at("a.csv", 3).place, "a.csv:3");
}

TEST(InputError, KeepsItsOtherFieldsWithAnotherSubject) {
  const InputError error = out_of_range("tile", "0", "at least 1").about("--tile");
  EXPECT_EQ(error.subject, "--tile");
  EXPECT_EQ(error.value, "0");
  EXPECT_STREQ(error.what(), "--tile: '0' is out of range; expected at least 1");
}

TEST(InputError, KeepsItsOtherFieldsWithinAnotherSubject) {
  const InputError error = out_of_range("tile", "0", "at least 1").within("set");
  EXPECT_EQ(error.subject, "set: tile");
  EXPECT_EQ(error.value, "0");
  EXPECT_STREQ(InputError("", "x", "", "a size").within("tile").what(),
               "tile: 'x' is not a size");
}

TEST(InputError, EqualsAnErrorWithTheSameFields) {
  EXPECT_EQ(missing("tile", "a size"), missing("tile", "a size"));
  EXPECT_FALSE(missing("tile", "a size") == fault_of("", "tile: is missing", "a size"));
}

}  // namespace
}  // namespace tilerail
