// The seed of random tests: fixed, or from TILERAIL_TEST_SEED.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace tilerail::test {

inline uint64_t test_seed() {
  constexpr uint64_t usual = 20240607;
  const char* const given = std::getenv("TILERAIL_TEST_SEED");
  if (given == nullptr || *given == '\0') return usual;
  size_t read = 0;
  const uint64_t seed = std::stoull(given, &read);
  if (given[read] != '\0')
    throw std::invalid_argument{"TILERAIL_TEST_SEED: expected a number"};
  return seed;
}

/// Prints the seed before the first test.
class SeedPrinter : public ::testing::Environment {
 public:
  void SetUp() override {
    std::printf("TILERAIL_TEST_SEED=%llu\n",
                static_cast<unsigned long long>(test_seed()));
    std::fflush(stdout);
  }
};
inline ::testing::Environment* const seed_printer =
    ::testing::AddGlobalTestEnvironment(new SeedPrinter);

}  // namespace tilerail::test
