#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/machine/rank.hpp"
#include "plan/plan.hpp"

namespace tilerail {

/// A block of a tensor that one rank sends to another. Sender and receiver compute the
/// same message from their parts, so the message identifies the transfer.
struct Message {
  TensorId tensor;
  MemoryId from, to;
  int32_t version;  // number of earlier messages of this block between these memories
  int64_t row, col, rows, cols;

  auto operator<=>(const Message&) const = default;
};

/// The end of a message in the part of its sender or its receiver. The messages from one
/// rank to another are numbered from 0, in the order of the plan.
struct Transfer {
  OpId op;
  RankId peer;
  bool sends;
  uint32_t number;
  Message message;
};

/// The operations, queues and dependencies of one rank of a plan, as a plan with its own
/// ids. A copy from or to a memory of another rank is a transfer; its remote operand is a
/// buffer that has no memory here. A whole plan is the part of the only rank.
struct PlanPart {
  PlanPart(Plan part, OwnRank rank);

  Plan plan;
  OwnRank own;
  std::vector<Transfer> transfers;  // by ascending operation

  /// The transfer of an operation; null if it is none.
  const Transfer* transfer(OpId op) const;
  std::vector<Message> messages(RankId peer, bool sends) const;
};

/// The part of a rank. Dependencies between a transfer and other operations of the rank
/// are kept on both sides. `topology`: the plan's machine. Throws InputError for a
/// dependency between operations of different ranks that no message carries.
PlanPart part_of(const Plan& plan, const Topology& topology, const OwnRank& own);

/// "A[0:64, 128:192] version 0 from gpu0 to gpu4"
std::string message_text(const Message& message, const Plan& plan);

/// Hash of problem, machine, choices and ranks: equal in all parts of a plan.
std::string shared_hash(const PlanPart& part);

}  // namespace tilerail
