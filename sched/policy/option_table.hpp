#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "model/base/error.hpp"
#include "model/base/number_text.hpp"
#include "model/base/parse.hpp"
#include "sched/policy/policy.hpp"

namespace tilerail {

/// Elements of the tables of options (fields.cpp, sched/emulation/options.cpp).

struct Value;

/// Range of a numeric field or parameter.
struct Number {
  double low, high;
  std::string accepted;                                // "whole number 1 to 64"
  std::function<bool(Policy&, std::string_view)> set;  // false: invalid text
  std::function<std::optional<std::string>(const Policy&)> get;
  std::function<std::vector<std::string>(const Policy&)>
      neighbors;  // values that a search tries next
};

/// An option of policies, or a parameter of one of its values.
struct Field {
  std::string_view key, meaning = {};
  std::vector<Value> values;
  std::optional<Number> number = {};
  bool is_varied = false;     // a search may change it
  bool is_of_search = false;  // the field limits the search and is not a decision
  bool emulates = false;
};

struct Value {
  std::string_view name;
  std::function<void(Policy&)> choose;
  std::function<bool(const Policy&)> is_chosen;
  std::vector<Field> parameters = {};

  /// The same value with parameters.
  Value operator()(std::vector<Field> with) const {
    Value value = *this;
    value.parameters = std::move(with);
    return value;
  }
};

/// `Any` is Policy or const Policy.
template <class Any, class Member>
auto& in(Any& policy, Member Policy::*member) {
  return policy.*member;
}
template <class Any, class Member>
auto& in(Any& policy, Member Choices::*member) {
  return policy.choices.*member;
}

/// A value named `name` that sets the member to `choice`.
template <class Member, class Owner>
Value value(std::string_view name, Member Owner::*member,
            std::type_identity_t<Member> choice) {
  return {name, [=](Policy& policy) { in(policy, member) = choice; },
          [=](const Policy& policy) { return in(policy, member) == choice; }};
}

template <class Member, class Owner>
std::vector<Value> values(
    Member Owner::*member,
    std::initializer_list<std::pair<std::string_view, std::type_identity_t<Member>>>
        named) {
  std::vector<Value> all;
  for (const auto& [name, choice] : named) all.push_back(value(name, member, choice));
  return all;
}

template <class Owner>
std::vector<Value> on_off(bool Owner::*member) {
  return values(member, {{"on", true}, {"off", false}});
}

template <class Number>
std::optional<Number> read_number(std::string_view text) {
  return number_in<Number>(text);
}
/// Byte counts and tiles: also "16K".
template <>
inline std::optional<int64_t> read_number(std::string_view text) try {
  return parse_size(text, "");
} catch (const InputError&) {
  return std::nullopt;
}

/// A number's neighbors are its half, its double and its minimum.
template <class Member, class Owner>
Number number(Member Owner::*member, std::type_identity_t<Member> low,
              std::type_identity_t<Member> high) {
  const auto set = [=](Policy& policy, std::string_view text) {
    const auto read = read_number<Member>(text);
    if (!read || !(*read >= low && *read <= high)) return false;
    in(policy, member) =
        *read == 0 ? Member{} : *read;  // -0 is 0, and its plan has the hash of 0
    return true;
  };
  const auto get = [=](const Policy& policy) -> std::optional<std::string> {
    const Member own = in(policy, member);
    return own >= low && own <= high ? std::optional{fmt::format("{}", own)}
                                     : std::nullopt;
  };
  const auto neighbors = [=](const Policy& policy) {
    const Member own = get(policy) ? in(policy, member) : low;
    std::vector<std::string> others;
    for (const Member near :
         {static_cast<Member>(own / 2), static_cast<Member>(own * 2), low})
      if (const std::string text = fmt::format("{}", std::clamp(near, low, high));
          text != get(policy) && std::ranges::find(others, text) == others.end())
        others.push_back(text);
    return others;
  };
  const auto kind = std::is_integral_v<Member> ? "whole number " : "";
  return {double(low), double(high), fmt::format("{}{} to {}", kind, low, high),
          set,         get,          neighbors};
}

/// Marks a field that a search may change.
inline Field varied(Field field) {
  field.is_varied = true;
  return field;
}

/// Marks a limit of the search.
inline Field of_search(Field field) {
  field.is_of_search = true;
  return field;
}

/// Marks an imitation of a library.
inline Field emulates(Field field) {
  field.emulates = true;
  return field;
}

/// The options of every policy.
const std::vector<Field>& core_fields();

}  // namespace tilerail
