#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace tilerail {

/// Writes one protobuf message, field by field, in the wire format (protobuf.dev: encoding).
class ProtoMessage {
 public:
  void varint(std::uint32_t field, std::uint64_t value) {
    tag(field, 0);
    append(value);
  }
  void number(std::uint32_t field, double value) {
    tag(field, 1);
    auto bits = std::bit_cast<std::uint64_t>(value);
    for (int byte = 0; byte < 8; ++byte, bits >>= 8) bytes_ += static_cast<char>(bits & 0xff);
  }
  /// A string, bytes or a nested message.
  void block(std::uint32_t field, std::string_view bytes) {
    tag(field, 2);
    append(bytes.size());
    bytes_ += bytes;
  }
  void block(std::uint32_t field, const ProtoMessage& message) { block(field, message.bytes()); }

  const std::string& bytes() const { return bytes_; }
  std::string take() && { return std::move(bytes_); }
  void clear() { bytes_.clear(); }
  bool empty() const { return bytes_.empty(); }

 private:
  void tag(std::uint32_t field, std::uint32_t wire_type) { append(std::uint64_t{field} << 3 | wire_type); }
  void append(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }

  std::string bytes_;
};

}  // namespace tilerail
