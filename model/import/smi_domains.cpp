#include "model/import/smi_domains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "model/base/error.hpp"
#include "model/base/indices.hpp"
#include "model/base/units_text.hpp"
#include "model/import/assumptions.hpp"
#include "model/import/link_values.hpp"

namespace tilerail {
namespace {

bool is_near(const std::string& cell) { return cell == "PIX" || cell == "PXB" || cell == "PHB" || cell == "NODE"; }
bool is_far(const std::string& cell) { return cell == "SYS" || cell == "SOC"; }

class Domains {
 public:
  Domains(const SmiMatrix& matrix, const std::string& file) : m_{matrix}, file_{file}, first_(matrix.devices.size()) {
    std::iota(first_.begin(), first_.end(), 0U);
    socket_ = first_;
    far_.assign(first_.size(), std::vector<bool>(first_.size()));
  }

  SmiDomains found() {
    each_pair([&](size_t i, size_t j) { use_relation(i, j); });
    each_pair([&](size_t i, size_t j) {
      if (!told(i) || !told(j)) use_cards(i, j);
    });
    each_pair([&](size_t i, size_t j) { check(i, j); });
    each_pair([&](size_t i, size_t j) {
      if (may_join(i, j) && !number(i) && !number(j) && same(m_.cpus[i], m_.cpus[j])) join(i, j);
    });
    each_pair([&](size_t i, size_t j) {
      if (may_join(i, j) && (!told_in(i) || !told_in(j))) join(i, j);
    });
    return numbered();
  }

 private:
  void each_pair(const auto& visit) const {
    for (const auto j : indices(m_.devices))
      for (size_t i = 0; i < j; ++i) visit(i, j);
  }

  static bool same(const std::optional<std::string>& a, const std::optional<std::string>& b) { return a && a == b; }

  /// The NUMA affinity, unless it is several domains.
  std::optional<std::string> number(size_t gpu) const {
    const auto& text = m_.domains[gpu];
    return text && whole_number(*text, 0, assumptions::last_domain) ? text : std::nullopt;
  }
  /// Of the domains of its NUMA affinity: 4 of "4-7".
  std::optional<int> first_number(size_t gpu) const {
    const auto& text = m_.domains[gpu];
    if (!text) return std::nullopt;
    return whole_number(text->substr(0, text->find_first_not_of("0123456789")), 0, assumptions::last_domain);
  }
  bool told(size_t gpu) const { return number(gpu) || m_.cpus[gpu]; }

  /// Told, and by the same kind of affinity.
  bool differ(size_t i, size_t j) const {
    if (number(i) || number(j)) return number(i) && number(j) && number(i) != number(j);
    return m_.cpus[i] && m_.cpus[j] && m_.cpus[i] != m_.cpus[j];
  }

  static void join(size_t i, size_t j, std::vector<size_t>& first) {
    const size_t from = std::max(first[i], first[j]), to = std::min(first[i], first[j]);
    std::ranges::replace(first, from, to);
  }
  void join(size_t i, size_t j) {
    join(i, j, first_);
    join(i, j, socket_);
  }

  bool any_of(size_t domain, const auto& is) const {
    for (const auto gpu : indices(first_))
      if (first_[gpu] == domain && is(gpu)) return true;
    return false;
  }
  bool told_in(size_t gpu) const {
    return any_of(first_[gpu], [&](size_t other) { return told(other); });
  }
  bool may_join(size_t i, size_t j) const {
    return first_[i] != first_[j] &&
           !any_of(first_[i], [&](size_t a) { return any_of(first_[j], [&](size_t b) { return far_[a][b]; }); });
  }

  /// NODE stands between GPUs of one socket, whose domains may differ.
  void use_relation(size_t i, size_t j) {
    const std::string& cell = m_.cells[i][j];
    const bool has_one_number = same(number(i), number(j));
    far_[i][j] = far_[j][i] = is_far(cell);
    if (is_near(cell) || has_one_number) join(i, j, socket_);
    if (has_one_number || (is_near(cell) && !(cell == "NODE" && differ(i, j)))) join(i, j, first_);
  }

  void use_cards(size_t i, size_t j) {
    for (const auto card : indices(m_.cards[i])) {
      const std::string &a = m_.cards[i][card], &b = m_.cards[j][card];
      if (is_near(a) && is_near(b)) join(i, j);
      if ((is_near(a) && is_far(b)) || (is_far(a) && is_near(b))) far_[i][j] = far_[j][i] = true;
    }
  }

  [[noreturn]] void fail(size_t i, size_t j, const std::string& but, const std::string& expected) const {
    throw fault_of(
        "", fmt::format("GPU{} to GPU{} is {}, {}", m_.devices[j], m_.devices[i], in_quotes(m_.cells[j][i]), but),
        expected)
        .at(file_, m_.lines[j]);
  }

  void check(size_t i, size_t j) const {
    if (socket_[i] == socket_[j] && far_[i][j])
      fail(i, j,
           same(number(i), number(j)) ? fmt::format("and both have the NUMA affinity {}", *number(i))
                                      : std::string{"and other relations or affinities put both below one socket"},
           "GPUs of one socket or of two");
    if (first_[i] != first_[j] || !differ(i, j)) return;
    const auto& affinities = number(i) ? m_.domains : m_.cpus;
    fail(i, j,
         fmt::format("and their {} affinities are {} and {}", number(i) ? "NUMA" : "CPU", *affinities[j],
                     *affinities[i]),
         "one affinity for GPUs below one host bridge");
  }

  /// By number if each domain has one of its own, else in the order of the GPUs.
  SmiDomains numbered() const {
    std::map<int, size_t> by_number;
    std::vector<size_t> domains;
    for (const auto gpu : indices(first_)) {
      if (first_[gpu] == gpu) domains.push_back(gpu);
      if (const auto own = first_number(gpu)) by_number.emplace(*own, first_[gpu]);
    }
    SmiDomains result;
    result.of_gpu.resize(first_.size());
    const bool all = std::ranges::all_of(domains, [&](size_t domain) {
      return std::ranges::count(by_number, domain, &std::map<int, size_t>::value_type::second) == 1;
    });
    if (all) domains.clear();
    if (all)
      for (const auto& [own, domain] : by_number) {
        domains.push_back(domain);
        result.numbers.push_back(std::to_string(own));
      }
    for (const auto d : indices(domains)) {
      if (!all) result.numbers.push_back(std::to_string(d));
      for (const auto gpu : indices(first_))
        if (first_[gpu] == domains[d]) result.of_gpu[gpu] = d;
    }
    for (const size_t domain : domains)
      result.sockets.push_back(size_t(
          std::ranges::find_if(domains, [&](size_t d) { return socket_[d] == socket_[domain]; }) - domains.begin()));
    return result;
  }

  const SmiMatrix& m_;
  const std::string& file_;
  std::vector<size_t> first_;           // by GPU: the first GPU of its domain so far
  std::vector<size_t> socket_;          // and of its socket
  std::vector<std::vector<bool>> far_;  // by pair: SYS to each other
};

}  // namespace

SmiDomains domains_of(const SmiMatrix& matrix, const std::string& file) { return Domains{matrix, file}.found(); }

}  // namespace tilerail
