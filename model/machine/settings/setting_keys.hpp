#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tilerail {

/// The figures of a kind of item, "link:", "group:", "memory:" or "kernels:"; none of another text.
std::span<const std::string_view> figures_of_kind(std::string_view kind);

/// The figure that a key of a kind, KIND:NAME.FIGURE, ends with: the longest of those that there are, since names have
/// dots, and so have some figures. Empty where it ends with none, or has no name.
std::string_view figure_of(std::string_view key);

/// The value that leaves a link or a GPU as it is, next to "none", which removes it.
inline constexpr std::string_view as_it_is = "x1";

/// Whether a key names links or memories, without a figure: "link:gpu0<->gpu1".
bool is_part_key(std::string_view key);

/// Whether a key begins as those of settings do: what follows may be none.
bool begins_as_setting(std::string_view key);
/// Whether a key is one of settings, as far as it tells without a machine.
bool is_setting_key(std::string_view key);

}  // namespace tilerail
