#include "backends/ranks/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/base/digest.hpp"
#include "model/base/error.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

template <class Items>
Strided bytes_of(Items& items) {
  return {reinterpret_cast<std::byte*>(items.data()),
          int64_t(items.size() * sizeof(items[0]))};
}

/// Exchanges lists of items with each other rank. Empty lists are not sent. `sent` and
/// `received`: by rank.
template <class Items>
void exchange(RankTransport& transport, RankId own, uint32_t number,
              std::vector<Items>& sent, std::vector<Items>& received) {
  size_t transfers = 0;
  for (const auto r : indices(sent)) {
    const RankId peer{r};
    if (peer == own) continue;
    if (!sent[r].empty())
      transport.send(peer, number, bytes_of(sent[r]), {}), ++transfers;
    if (!received[r].empty())
      transport.receive(peer, number, bytes_of(received[r]), {}), ++transfers;
  }
  for (; transfers > 0; --transfers) transport.next();
}

void compare(const PlanPart& part, RankId peer, const std::vector<Message>& sent) {
  const std::vector<Message> expected = part.messages(peer, false);
  const auto [is, wanted] = std::ranges::mismatch(sent, expected);
  if (is == sent.end() && wanted == expected.end()) return;
  const auto text = [&](auto message, const auto& list) {
    return message == list.end() ? "none" : message_text(*message, part.plan);
  };
  throw InputError{fmt::format("message {} from rank {}", is - sent.begin(), peer.value),
                   text(is, sent), "differs from the plan of this rank",
                   text(wanted, expected)};
}

}  // namespace

std::string agree(const PlanPart& part, RankTransport& transport) {
  const size_t ranks = part.own.ranks.size();
  if (ranks != transport.ranks())
    throw InputError{"plan", std::to_string(ranks), "ranks",
                     fmt::format("the {} of this run", transport.ranks())};
  const std::string shared = shared_hash(part), own_hash = content_hash(part.plan);
  std::vector<std::string> headers;  // two hashes and the number of messages to the peer
  std::vector<std::vector<Message>> messages, expected(ranks);
  for (size_t r = 0; r < ranks; ++r) {
    messages.push_back(part.messages(RankId{r}, true));
    headers.push_back(fmt::format("{}{}{:16}", shared, own_hash, messages[r].size()));
  }
  std::vector<std::string> theirs = headers;
  exchange(transport, part.own.id, 0, headers, theirs);
  std::string hashes = shared;
  for (size_t r = 0; r < ranks; ++r) {
    const auto field = [&](size_t i) { return theirs[r].substr(16 * i, 16); };
    if (field(0) != shared)
      throw fault_of("plan", fmt::format("rank {} has a part of another plan", r),
                     "the same problem, machine, choices and ranks");
    hashes += field(1);
    expected[r].resize(std::stoull(field(2)));
  }
  exchange(transport, part.own.id, 1, messages, expected);
  for (size_t r = 0; r < ranks; ++r) compare(part, RankId{r}, expected[r]);
  return digest_text(hashes);
}

void end_together(const OwnRank& own, RankTransport& transport) {
  std::vector<std::string> ended(own.ranks.size(), "ended"), theirs = ended;
  exchange(transport, own.id, 0, ended, theirs);
}

}  // namespace tilerail
