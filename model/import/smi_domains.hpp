#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "model/import/smi_matrix.hpp"

namespace tilerail {

/// NUMA domains with GPUs.
struct SmiDomains {
  std::vector<std::string> numbers;  // of the source (the first of several) if it has them all, else 0, 1, ...
  std::vector<size_t> sockets;       // by domain: the first domain of its socket
  std::vector<size_t> of_gpu;        // by row of the matrix: index into `numbers`
};

/// GPUs with one NUMA affinity (one CPU affinity where the file has no NUMA affinity), and GPUs whose relation is NODE,
/// PHB, PXB or PIX, are in one domain; NODE between two NUMA affinities is one socket with two domains; GPUs that are
/// SYS to each other are below two sockets. If a GPU has no affinity, its relations to network cards count, too; what
/// is open then goes to the first domain that nothing excludes. Throws InputError "FILE:LINE: ..." where affinities and
/// relations contradict each other.
SmiDomains domains_of(const SmiMatrix& matrix, const std::string& file);

}  // namespace tilerail
