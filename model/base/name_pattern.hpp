#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tilerail {

/// The names of a text with ranges of numbers, in the syntax of cluster schedulers:
/// "gpu[0-7]", "gpu[0,2,4-6]", "rack[0-1]-gpu[0-3]". If the first number of a range
/// begins with 0, all its numbers have the same digits: "n[08-11]" is n08, n09, n10, n11.
/// Names are in the order of the text; the last bracket varies fastest. '*' and '?' are
/// kept, and a text without brackets is one name. Throws InputError if a bracket contains
/// anything but ranges of numbers or is not closed, or if there are more than `most`
/// names.
std::vector<std::string> expanded_names(std::string_view text, size_t most);

/// Whether a name fits a pattern: '*' matches any characters and '?' one character. The
/// time is at most the product of both lengths, however many '*' there are.
bool fits_pattern(std::string_view pattern, std::string_view name);

}  // namespace tilerail
