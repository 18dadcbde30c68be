#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "model/base/units.hpp"

/// All assumptions of importers and `tilerail topo new` about facts missing from their
/// input. docs/formats.md#assumptions
namespace tilerail::assumptions {

/// Share of the nominal rate of a PCIe or NVLink port that large copies reach. Measured
/// on an HGX H200 (docs/machines.md#hgx-h200): 55.4 of 63 GB/s on PCIe 5, 388.7 of 450 on
/// 18 NVLinks, hence 0.86 to 0.88.
inline constexpr double reached = 0.87;

/// PCIe of generations 3 to 7, 16 lanes, one direction, nominal (before `reached`).
/// Source: the standards' transfer rates times their encoding (128b/130b; PAM4 with FLITs
/// from generation 6 on, 242 of 256 bytes).
inline constexpr int first_pcie = 3, last_pcie = 7;
inline constexpr std::array pcie{Rate{15.75e9}, Rate{31.5e9}, Rate{63e9}, Rate{121e9},
                                 Rate{242e9}};
/// The rate that copies reach.
constexpr Rate pcie_reached(int generation) {
  return pcie[size_t(generation - first_pcie)] * reached;
}
/// Payload share of the line rate: below 8 GT/s, from 8 GT/s on, and with FLITs, from 64
/// GT/s on.
inline constexpr double old_line_code = 0.8, line_code = 128.0 / 130, flits = 242.0 / 256;
inline constexpr double line_code_from = 8, flits_from = 64;  // GT/s
inline constexpr std::array pcie_transfers{2.5,  5.0,  8.0,  16.0,
                                           32.0, 64.0, 128.0};  // GT/s, by generation
inline constexpr std::array pcie_widths{1, 2, 4, 8, 12, 16, 32};

/// One NVLink, one direction, nominal, by the minimum compute capability. Source:
/// NVIDIA's pages of B200 (1.8 TB/s of 18, both directions), RTX A6000 and A40 (112.5
/// GB/s of 4), V100, A100, H100 (25 GB/s), P100 (160 GB/s of 4).
inline constexpr std::array<std::pair<int, Rate>, 5> nvlinks{{{100, Rate{50e9}},
                                                              {87, Rate{25e9}},
                                                              {86, Rate{14.0625e9}},
                                                              {70, Rate{25e9}},
                                                              {60, Rate{20e9}}}};
/// If the generation is unknown: generations 2 to 4, nominal, and as reached by copies.
inline constexpr Rate nvlink_nominal{25e9};
inline constexpr Rate nvlink{25e9 * reached};
/// NVLink-C2C between a Grace and its GPU, one direction, as reached by copies. Source:
/// NVIDIA's 900 GB/s for both directions.
inline constexpr Rate c2c{450e9 * reached};
/// NVLinks of one GPU, 18 from the H100 on. A GPU with more links in total has a switch.
inline constexpr int most_nvlinks = 18;
/// GPUs with direct links between all pairs give at most 1 / least_parts of their NVLinks
/// to a peer: four GPUs of DGX and HGX boards (4 of 12, 6 of 18), the cube meshes (1 of
/// 4, 2 of 6).
inline constexpr int least_parts = 3;

/// PCIe generation of GPUs that are not in the table below.
inline constexpr int other_generation = 5;
/// A kind of GPU, identified by a word in the name of its kernels: PCIe generation and
/// maximum number of NVLinks. Source: NVIDIA's and AMD's data sheets.
struct GpuModel {
  std::string_view word;
  int pcie = other_generation;
  int nvlinks = most_nvlinks;
};
inline constexpr std::array<GpuModel, 30> gpu_models{
    {{"k40", 3},   {"k80", 3},   {"p40", 3},    {"p100", 3, 4}, {"v100", 3, 6},
     {"t4", 3},    {"a10", 4},   {"a30", 4, 4}, {"a40", 4, 4},  {"a100", 4, 12},
     {"a800", 4},  {"a5000", 4}, {"a6000", 4},  {"l4", 4},      {"l40", 4},
     {"l40s", 4},  {"h20", 5},   {"h100", 5},   {"h800", 5},    {"h200", 5},
     {"gh200", 5}, {"b200", 5},  {"gb200", 5},  {"b300", 6},    {"gb300", 6},
     {"mi100", 4}, {"mi210", 4}, {"mi250", 4},  {"mi250x", 4},  {"mi300x", 5}}};
/// One xGMI link of an AMD GPU, one direction, by the GPU's architecture, as reached by
/// copies. Source: RCCL's ncclTopoXGMISpeed (src/graph/topo.h); AMD's nominal rates are
/// 50 GB/s for gfx90a and 64 GB/s for gfx942.
inline constexpr std::array<std::pair<std::string_view, Rate>, 7> xgmi_links{
    {{"gfx906", Rate{24e9}},
     {"gfx908", Rate{24e9}},
     {"gfx90a", Rate{36e9}},
     {"gfx940", Rate{48e9}},
     {"gfx941", Rate{48e9}},
     {"gfx942", Rate{48e9}},
     {"gfx950", Rate{48e9}}}};
/// Between the parts of one PCIe switch that appears as several, one direction. Source:
/// NCCL's LOC_BW.
inline constexpr Rate within_switch{5000e9};

/// DRAM of one socket, nominal, by its PCIe generation, 3 to 7. Source: 6 channels of
/// DDR4-2666, 8 of DDR4-3200, 8 of DDR5-4800 and 12 of DDR5-6400, 8 bytes per transfer;
/// generation 7 like generation 6.
inline constexpr std::array socket_memory{Rate{128e9}, Rate{204.8e9}, Rate{307.2e9},
                                          Rate{614.4e9}, Rate{614.4e9}};
/// Rates of host memory in copies of many GPUs: only reads, only writes, and the sum of
/// both simultaneously.
struct MemoryShares {
  double read = 1, written = 1, both = 1;
};
/// Shares of a socket's nominal rate if copies use only its memory, and of the total of
/// all sockets if copies use all of them. Measured on 8 H200 with two sockets of 307
/// GB/s: 183, 106 and 138 GB/s with the pages of one thread, 266, 158 and 188 GB/s with
/// spread pages. Resulting rates of other machines: docs/machines.md#host-memory.
inline constexpr MemoryShares of_socket{0.596, 0.345, 0.449},
    of_all_sockets{0.727, 0.745, 0.681};
inline constexpr double read_of_both = 0.4;  // share of reads while GPUs read and write
inline constexpr const char* host_memory_text =
    "copies of all GPUs read 60 %, write 35 % and get 45 % both ways of the nominal DRAM "
    "rate of a socket, and 73, 74 and 68 % with several sockets, as on 8 H200 "
    "(docs/machines.md#host-memory); a Grace 87 %";

/// Rates of one host memory, and the shares of the total that several memories reach
/// together.
struct HostRates {
  Rate read{0}, written{0}, both{0};
  MemoryShares together = of_all_sockets;
  double read_share = read_of_both;
};
/// Rates with the measured proportions.
constexpr HostRates host_rates(Rate read) {
  return {read, read * (of_socket.written / of_socket.read),
          read * (of_socket.both / of_socket.read)};
}
/// Rates of a socket with this PCIe generation.
constexpr HostRates host_rates(int generation) {
  return host_rates(socket_memory[size_t(generation - first_pcie)] * of_socket.read);
}
/// Rates of a Grace: its GPU reaches the memory over NVLink-C2C at full memory speed.
/// Source: NVIDIA's 512 GB/s.
inline constexpr HostRates coherent_rates{
    Rate{512e9 * reached}, Rate{512e9 * reached}, Rate{512e9 * reached}, {}, 0.5};

/// Between two sockets, one direction. Source: three to four UPI or xGMI links have 60 to
/// 130 GB/s.
inline constexpr Rate sockets{100e9};
/// Between two NUMA domains of one socket (sub-NUMA clusters, NPS), one direction: the
/// domains share a mesh or an I/O die with the full memory rate of the other domain,
/// nominally 154 GB/s for half a socket with DDR5-4800.
inline constexpr Rate domains{154e9};

/// Latencies of single links. Their sums are the times of one-byte copies: 2.5 us between
/// a host and a GPU, 2.6 us between GPUs of one switch
/// (docs/machines.md#what-holds-for-all has the sources). The division into links is an
/// assumption.
inline constexpr Seconds memory_latency{0.5e-6};  // host memory to its socket
inline constexpr Seconds gpu_latency{2e-6};       // socket or PCIe switch to GPU
inline constexpr Seconds host_latency{memory_latency + gpu_latency};
inline constexpr Seconds pcie_switch_latency{
    0.5e-6};  // socket to PCIe switch, and between PCIe switches
inline constexpr Seconds nvlink_latency{
    1.3e-6};  // GPU to NVLink switch; a direct NVLink has twice this latency
inline constexpr Seconds socket_latency{1e-6};    // between sockets
inline constexpr Seconds domain_latency{0.2e-6};  // between NUMA domains of one socket
inline constexpr Seconds bridge_latency{1e-6};    // between NVLink switches

/// Maximum number of sockets, or of bridged NVLink switches, that are joined by one link
/// per pair. More of them are joined by an additional switch, with one link of this rate
/// each.
inline constexpr size_t most_in_pairs = 8;

/// Pairs of GPUs form a switch if the rates of all pairs are within this factor.
inline constexpr double alike = 1.1;
/// GPUs get equal shares of a host's rate while all copy, unless their rates are this
/// factor apart.
inline constexpr double equal_shares = 1.03;

/// Largest NUMA domain number in Linux (its largest MAX_NUMNODES).
inline constexpr int last_domain = 1023;

/// Maximum number of GPUs in a file. No node that these tools describe has more; the
/// limit bounds the cost of hostile files.
inline constexpr size_t most_gpus = 128;

}  // namespace tilerail::assumptions
