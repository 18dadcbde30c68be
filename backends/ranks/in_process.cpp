#include "backends/ranks/in_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "model/base/error.hpp"

namespace tilerail {
namespace {

using Bytes = std::vector<std::byte>;

void unpack(const Bytes& bytes, const Strided& to) {
  assert(int64_t(bytes.size()) == to.bytes * to.columns);
  for (int64_t j = 0; j < to.columns; ++j)
    std::copy_n(bytes.data() + j * to.bytes, to.bytes, to.data + j * to.pitch);
}

struct Failure {
  std::string rank, what;
  bool bad_input;
};

using Key = std::pair<RankId, uint32_t>;  // of messages: sender and number

struct Receive {
  Key key;
  Strided to;
  OpId token;
};

struct Mailbox {
  std::map<Key, std::deque<Bytes>> arrived;
  std::deque<Receive> expected;
  std::deque<OpId> sent;
};

/// State shared by all ranks; one mutex protects all members.
struct Exchange {
  explicit Exchange(size_t ranks) : mailboxes(ranks), left(ranks, false) {}

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<Mailbox> mailboxes;  // by rank
  std::vector<bool> left;
  std::optional<Failure> failure;
};

class InProcess final : public RankTransport {
 public:
  InProcess(RankId rank, std::shared_ptr<Exchange> exchange)
      : rank_{rank}, exchange_{std::move(exchange)} {}

  ~InProcess() override {
    change([&] { exchange_->left[rank_.index()] = true; });
  }

  size_t ranks() const override { return exchange_->mailboxes.size(); }

  void send(RankId to, uint32_t number, const Strided& from, OpId token) override {
    Bytes bytes;
    for (int64_t j = 0; j < from.columns; ++j) {
      const std::byte* const column = from.data + j * from.pitch;
      bytes.insert(bytes.end(), column, column + from.bytes);
    }
    change([&] {
      exchange_->mailboxes[to.index()].arrived[{rank_, number}].push_back(
          std::move(bytes));
      own().sent.push_back(token);
    });
  }

  void receive(RankId from, uint32_t number, const Strided& to, OpId token) override {
    change([&] { own().expected.push_back({{from, number}, to, token}); });
  }

  OpId next() override {
    std::unique_lock lock{exchange_->mutex};
    while (true) {
      if (const auto& failure = exchange_->failure) {
        if (failure->bad_input) throw fault_of(failure->rank, failure->what);
        throw std::runtime_error{failure->rank + ": " + failure->what};
      }
      if (const std::optional<OpId> token = ended()) return *token;
      if (!exchange_->failure) exchange_->changed.wait(lock);
    }
  }

  void fail(const std::string& what, bool bad_input) override {
    change([&] { fail_for(rank_, what, bad_input); });
  }

 private:
  Mailbox& own() { return exchange_->mailboxes[rank_.index()]; }

  void change(const auto& work) {
    const std::lock_guard lock{exchange_->mutex};
    work();
    exchange_->changed.notify_all();
  }

  /// Only the first failure counts.
  void fail_for(RankId rank, const std::string& what, bool bad_input) {
    if (!exchange_->failure)
      exchange_->failure = {fmt::format("rank {}", rank.value), what, bad_input};
  }

  /// A transfer that has ended, if any.
  std::optional<OpId> ended() {
    auto& [arrived, expected, sent] = own();
    for (auto receive = expected.begin(); receive != expected.end(); ++receive) {
      std::deque<Bytes>& there = arrived[receive->key];
      const auto& [from, number] = receive->key;
      if (there.empty()) {
        if (exchange_->left[from.index()])
          fail_for(from, fmt::format("has left without message {}", number), false);
        continue;
      }
      unpack(there.front(), receive->to);
      there.pop_front();
      sent.push_front(receive->token);
      expected.erase(receive);
      break;
    }
    if (sent.empty()) return std::nullopt;
    const OpId token = sent.front();
    sent.pop_front();
    return token;
  }

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
