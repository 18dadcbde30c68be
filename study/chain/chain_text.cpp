#include "study/chain/chain_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/parse.hpp"
#include "model/base/units_text.hpp"
#include "study/problem_text.hpp"

namespace tilerail::study {
namespace {

std::vector<std::int64_t> sizes_of(const std::string& dims) {
  std::vector<std::int64_t> sizes;
  for (const std::string_view part : split(dims, ',')) sizes.push_back(parse_size(part, "--dims"));
  if (sizes.size() < least_factors + 1 || sizes.size() > most_factors + 1)
    throw InputError{fmt::format("--dims: '{}' has {}; expected {} to {}, one more than factors", dims,
                                 sizes.size() == 1 ? "1 size" : fmt::format("{} sizes", sizes.size()),
                                 least_factors + 1, most_factors + 1)};
  return sizes;
}

std::vector<MemoryId> places_of(const std::optional<std::string>& text, std::size_t factors, const Topology& topology) {
  if (!text) return std::vector<MemoryId>(factors + 1, place_of("h", topology, "--place"));
  std::vector<MemoryId> places;
  for (const std::string_view part : split(*text, ':')) places.push_back(place_of(part, topology, "--place"));
  if (places.size() != factors + 1)
    throw InputError{fmt::format("--place: '{}' has {} places; expected {}: one of each factor and of the result",
                                 *text, places.size(), factors + 1)};
  if (topology.has_copies(places.back()))
    throw InputError{
        fmt::format("--place: '{}' for what is written; expected one place, copies only of factors", *text)};
  return places;
}

std::vector<Trans> transposes_of(const std::optional<std::string>& text, std::size_t factors) {
  std::vector<Trans> transposes(factors, Trans::no);
  if (!text) return transposes;
  if (text->size() != factors)
    throw InputError{fmt::format("--trans: '{}' is not {} letters; expected N or T of each factor", *text, factors)};
  for (std::size_t i = 0; i < factors; ++i) transposes[i] = trans_from_string(text->substr(i, 1), "--trans");
  return transposes;
}

}  // namespace

ChainProblem ChainText::resolve(const Topology& topology) const {
  const std::vector<std::int64_t> sizes = sizes_of(dims);
  const std::size_t factors = sizes.size() - 1;
  const std::vector<Trans> transposes = transposes_of(trans, factors);
  const std::vector<MemoryId> places = places_of(place, factors, topology);
  ChainProblem chain;
  chain.dtype = dtype_from_string(dtype, "--dtype");
  chain.alpha = coefficient(alpha, chain.dtype, "--alpha"), chain.beta = coefficient(beta, chain.dtype, "--beta");
  chain.place = places.back();
  for (std::size_t i = 0; i < factors; ++i) {
    ChainFactor factor{sizes[i], sizes[i + 1], 0, transposes[i], places[i]};
    if (factor.trans == Trans::yes) std::swap(factor.rows, factor.cols);
    chain.factors.push_back(factor);
  }
  for (const std::int64_t size : sizes)
    if (size == 0) throw InputError{fmt::format("--dims: '{}' has a size of 0; expected something to multiply", dims)};
  if (chain.alpha == 0) throw InputError{fmt::format("--alpha: '{}' leaves nothing to multiply", alpha)};
  try {
    return checked(std::move(chain));
  } catch (const InputError& error) {
    throw InputError{fmt::format("--dims: {}", error.what())};
  }
}

std::string text_of(const ChainProblem& chain, const Topology& topology) {
  std::vector<std::string> sizes{std::to_string(chain.rows())}, places;
  std::string transposes;
  for (const ChainFactor& factor : chain.factors) {
    sizes.push_back(std::to_string(factor.op_cols()));
    transposes += to_string(factor.trans);
    places.push_back(topology.memory(factor.place).name);
  }
  places.push_back(topology.memory(chain.place).name);
  return fmt::format("chain {} dtype={} trans={} alpha={} beta={} place={}", fmt::join(sizes, ","),
                     to_string(chain.dtype), transposes, shortest(chain.alpha), shortest(chain.beta),
                     fmt::join(places, ":"));
}

}  // namespace tilerail::study
