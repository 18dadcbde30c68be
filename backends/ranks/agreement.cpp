#include "backends/ranks/agreement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"

namespace tilerail {
namespace {

/// The first message from each rank to each other one.
struct Header {
  std::array<char, 16> shared{}, part{};  // hashes
  size_t messages = 0;                    // from the sender to the receiver
};

std::array<char, 16> characters(const std::string& hash) {
  std::array<char, 16> text{};
  std::ranges::copy(hash, text.begin());
  return text;
}

template <class Items>
Strided bytes_of(Items& items) {
  return {reinterpret_cast<std::byte*>(items.data()),
          int64_t(items.size() * sizeof(items[0]))};
}

/// By peer, except this rank: exchanges items, unless there are none.
template <class Item>
void exchange(RankTransport& transport, RankId own, uint32_t number,
              std::vector<std::vector<Item>>& sent,
              std::vector<std::vector<Item>>& received) {
  size_t transfers = 0;
  for (const auto peer : indices(sent)) {
    if (RankId{peer} == own) continue;
    if (!sent[peer].empty())
      transport.send(RankId{peer}, number, bytes_of(sent[peer]), {}), ++transfers;
    if (!received[peer].empty())
      transport.receive(RankId{peer}, number, bytes_of(received[peer]), {}), ++transfers;
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
  const std::string shared = shared_hash(part);
  const auto own_hash = characters(content_hash(part.plan));
  std::vector<std::vector<Header>> headers(ranks), theirs;
  std::vector<std::vector<Message>> messages(ranks), expected(ranks);
  for (size_t r = 0; r < ranks; ++r) {
    messages[r] = part.messages(RankId{r}, true);
    headers[r] = {{characters(shared), own_hash, messages[r].size()}};
  }
  theirs = headers;  // this rank's stays
  std::vector<std::string> hashes;
  exchange(transport, part.own.id, 0, headers, theirs);
  for (size_t r = 0; r < ranks; ++r) {
    const Header& header = theirs[r][0];
    if (header.shared != characters(shared))
      throw fault_of("plan", fmt::format("rank {} has a part of another plan", r),
                     "the same problem, machine, choices and ranks");
    hashes.emplace_back(header.part.begin(), header.part.end());
    expected[r].resize(header.messages);
  }
  exchange(transport, part.own.id, 1, messages, expected);
  for (size_t r = 0; r < ranks; ++r) compare(part, RankId{r}, expected[r]);
  return distributed_hash(shared, hashes);
}

}  // namespace tilerail
