#include "backends/ranks/rank_transport.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "model/base/error.hpp"

namespace tilerail {

RankFailure::RankFailure(RankId of, const std::exception& error, const std::string& place)
    : rank{of},
      what{place.empty() ? error.what() : fmt::format("{}: {}", place, error.what())},
      bad_input{dynamic_cast<const InputError*>(&error) != nullptr} {}

void RankFailure::raise() const {
  const std::string subject = fmt::format("rank {}", rank.value);
  if (bad_input) throw fault_of(subject, what);
  throw std::runtime_error{fmt::format("{}: {}", subject, what)};
}

}  // namespace tilerail
