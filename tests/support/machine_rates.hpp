// Rates of the shipped machines in the units of their files: GB/s = 1e9 B/s, memories by
// name.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "model/machine/concurrent_rates.hpp"
#include "model/machine/topology_toml.hpp"
#include "tests/support/shipped.hpp"

namespace tilerail::machine_rates {

using Copy = std::pair<std::string, std::string>;  // from, to
using Copies = std::vector<Copy>;

inline const std::string folder = std::string{TILERAIL_SOURCE_DIR} + "/topologies/";

using test::shipped;

inline double alone(const Topology& t, const std::string& from, const std::string& to) {
  return t.pair_rate(*t.find_memory(from), *t.find_memory(to)).value / 1e9;
}

inline std::vector<double> together(const Topology& t, const Copies& copies) {
  std::vector<std::pair<MemoryId, MemoryId>> flows;
  for (const auto& [from, to] : copies)
    flows.emplace_back(*t.find_memory(from), *t.find_memory(to));
  std::vector<double> rates;
  for (Rate rate : concurrent_rates(t, flows)) rates.push_back(rate.value / 1e9);
  return rates;
}

inline void expect_rates(const Topology::Description& machine, const Copies& copies,
                         const std::vector<double>& expected) {
  EXPECT_THAT(together(Topology{machine}, copies),
              ::testing::Pointwise(::testing::DoubleNear(1e-9), expected));
}

inline double total(const Topology& t, const Copies& copies) {
  const auto rates = together(t, copies);
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

inline std::string gpu(int number) { return "gpu" + std::to_string(number); }

inline Copies fetches(const std::vector<int>& gpus) {
  Copies copies;
  for (int g : gpus) copies.emplace_back("host", gpu(g));
  return copies;
}

inline Copies write_backs(const std::vector<int>& gpus) {
  Copies copies;
  for (int g : gpus) copies.emplace_back(gpu(g), "host");
  return copies;
}

inline Copies both_ways(const std::vector<int>& in, const std::vector<int>& out) {
  Copies copies = fetches(in);
  for (const Copy& copy : write_backs(out)) copies.push_back(copy);
  return copies;
}

inline const std::vector<int> all_eight{0, 1, 2, 3, 4, 5, 6, 7};

/// |actual - expected| <= share * expected, for one or several rates.
inline void expect_near(double actual, double expected, double share,
                        const std::string& what = "") {
  EXPECT_NEAR(actual, expected, share * expected) << what;
}
inline void expect_each_near(const std::vector<double>& actual, double expected,
                             double share) {
  EXPECT_THAT(actual, ::testing::Each(::testing::DoubleNear(expected, share * expected)));
}

inline double tflops(const Topology& t, int device, int64_t s, DType type,
                     Trans ta = Trans::no, Trans tb = Trans::no) {
  const double size = double(s);
  const Seconds time = t.kernels_of(*t.find_gpu(device)).gemm_time(s, s, s, type, ta, tb);
  return 2 * size * size * size / time.value / 1e12;
}

}  // namespace tilerail::machine_rates
