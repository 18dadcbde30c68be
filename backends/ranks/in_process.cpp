#include "backends/ranks/in_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

namespace tilerail {
namespace {

using Bytes = std::vector<std::byte>;

Bytes packed(const Strided& from) {
  Bytes bytes(size_t(from.bytes * from.columns));
  for (int64_t j = 0; j < from.columns; ++j)
    std::copy_n(from.data + j * from.pitch, from.bytes, bytes.data() + j * from.bytes);
  return bytes;
}

void unpack(const Bytes& bytes, const Strided& to) {
  for (int64_t j = 0; j < to.columns; ++j)
    std::copy_n(bytes.data() + j * to.bytes, to.bytes, to.data + j * to.pitch);
}

struct Receive {
  OpId token;
  Strided to;
};

/// What a rank has received and what it waits for, by sender and number.
struct Mailbox {
  using Key = std::pair<RankId, uint32_t>;

  void match(const Key& key) {
    auto& waiting = expected[key];
    auto& there = arrived[key];
    if (waiting.empty() || there.empty()) return;
    ended.emplace_back(waiting.front(), std::move(there.front()));
    waiting.pop_front(), there.pop_front();
    changed.notify_all();
  }

  std::map<Key, std::deque<Receive>> expected;
  std::map<Key, std::deque<Bytes>> arrived;
  std::deque<std::pair<Receive, Bytes>> ended;  // without bytes: sends
  std::condition_variable changed;
};

struct Exchange {
  explicit Exchange(size_t ranks) : mailboxes(ranks), left(ranks, false) {}

  /// With the mutex locked.
  void fail(const RankFailure& first) {
    if (!failure) failure = first;
    for (Mailbox& mailbox : mailboxes) mailbox.changed.notify_all();
  }
  /// Fails if a message that a rank waits for will never come.
  void check(const Mailbox::Key& key, Mailbox& receiver) {
    if (left[key.first.index()] && !receiver.expected[key].empty())
      fail({key.first,
            std::runtime_error{fmt::format("has left without message {}", key.second)}});
  }

  std::mutex mutex;
  std::deque<Mailbox> mailboxes;  // by rank
  std::vector<bool> left;
  std::optional<RankFailure> failure;
};

class InProcess final : public RankTransport {
 public:
  InProcess(RankId rank, std::shared_ptr<Exchange> exchange)
      : rank_{rank}, exchange_{std::move(exchange)} {}

  ~InProcess() override {
    const std::lock_guard lock{exchange_->mutex};
    exchange_->left[rank_.index()] = true;
    for (Mailbox& mailbox : exchange_->mailboxes)
      for (auto& [key, waiting] : mailbox.expected)
        if (key.first == rank_) exchange_->check(key, mailbox);
  }

  size_t ranks() const override { return exchange_->mailboxes.size(); }

  void send(RankId to, uint32_t number, const Strided& from, OpId token) override {
    Bytes bytes = packed(from);
    const std::lock_guard lock{exchange_->mutex};
    Mailbox& receiver = exchange_->mailboxes[to.index()];
    receiver.arrived[{rank_, number}].push_back(std::move(bytes));
    receiver.match({rank_, number});
    own().ended.push_back({{token, {}}, {}});
    own().changed.notify_all();
  }

  void receive(RankId from, uint32_t number, const Strided& to, OpId token) override {
    const std::lock_guard lock{exchange_->mutex};
    own().expected[{from, number}].push_back({token, to});
    own().match({from, number});
    exchange_->check({from, number}, own());
  }

  OpId next() override {
    std::unique_lock lock{exchange_->mutex};
    own().changed.wait(lock, [&] { return exchange_->failure || !own().ended.empty(); });
    if (exchange_->failure) exchange_->failure->raise();
    const auto [receive, bytes] = std::move(own().ended.front());
    own().ended.pop_front();
    lock.unlock();
    if (!bytes.empty()) unpack(bytes, receive.to);
    return receive.token;
  }

  void fail(const RankFailure& failure) override {
    const std::lock_guard lock{exchange_->mutex};
    exchange_->fail(failure);
  }

 private:
  Mailbox& own() { return exchange_->mailboxes[rank_.index()]; }

  RankId rank_;
  std::shared_ptr<Exchange> exchange_;
};

}  // namespace

std::vector<std::unique_ptr<RankTransport>> in_process_transports(size_t ranks) {
  const auto exchange = std::make_shared<Exchange>(ranks);
  std::vector<std::unique_ptr<RankTransport>> transports;
  for (size_t r = 0; r < ranks; ++r)
    transports.push_back(std::make_unique<InProcess>(RankId{r}, exchange));
  return transports;
}

}  // namespace tilerail
