#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// Distinct strings by number, in order of first use: each of a million operations stores
/// four bytes per name.
class StringTable {
 public:
  uint32_t intern(std::string_view text) {
    if (const auto found = numbers_.find(text); found != numbers_.end())
      return found->second;
    const auto number = uint32_t(texts_.size());
    texts_.emplace_back(text);
    numbers_.emplace(text, number);
    return number;
  }
  const std::string& operator[](uint32_t number) const { return texts_[number]; }
  size_t size() const { return texts_.size(); }
  bool operator==(const StringTable& other) const { return texts_ == other.texts_; }

 private:
  std::vector<std::string> texts_;
  std::map<std::string, uint32_t, std::less<>> numbers_;
};

}  // namespace tilerail
