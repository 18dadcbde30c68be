#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/base/ids.hpp"

namespace tilerail {

/// Columns of `bytes` bytes, one `pitch` after another.
struct Strided {
  std::byte* data = nullptr;
  int64_t bytes = 0, columns = 1, pitch = 0;
};

/// Moves messages between the ranks of a run; each rank has its own transport. Ranks
/// share no memory. Transfers start in any thread and end in one that calls next(). A
/// transport whose library allows one thread only can queue them until then.
class RankTransport {
 public:
  virtual ~RankTransport() = default;

  virtual size_t ranks() const = 0;

  /// Starts a transfer and returns. Its bytes must stay until next() returns `token` or
  /// throws. Messages of equal number between two ranks arrive in the order of sending.
  /// Between two memories, plans send one message after another, so a transport without
  /// numbers can order messages by these pairs.
  virtual void send(RankId to, uint32_t number, const Strided& from, OpId token) = 0;
  virtual void receive(RankId from, uint32_t number, const Strided& to, OpId token) = 0;

  /// Waits for the end of a transfer of this rank. If any rank has failed, throws the
  /// first failure: InputError or std::runtime_error, "rank 2: WHAT". A rank that leaves
  /// while its messages are expected has failed.
  virtual OpId next() = 0;

  /// Ends the run in all ranks because of an error of this rank. Afterwards, transports
  /// touch no bytes of transfers that have not ended.
  virtual void fail(const std::string& what, bool bad_input) = 0;
};

}  // namespace tilerail
