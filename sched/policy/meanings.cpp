#include "sched/policy/meanings.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tilerail {
namespace {

/// What each field does and when it matters, in a sentence.
constexpr std::array<std::pair<std::string_view, std::string_view>, 44> meanings{{
    {"devices",
     "Which of the given GPUs take part: all, the first alone as in a library for one GPU, or half, a quarter ... of "
     "them where fewer are estimated to be faster; "
     "matters with several GPUs and select=none."},
    {"select",
     "Takes the GPUs with the best metric: perf (rate), edp (energy times time), pdp (energy); matters with several "
     "GPUs and something to multiply."},
    {"select-by",
     "How select compares sets of GPUs: by the model of PARALiA, or by judging a plan for each of the best sets; "
     "matters with select."},
    {"select-ms",
     "Milliseconds that judging plans for select may cost, at a stated cost of an operation, so that every process "
     "decides alike; matters with select and select-by=plans."},
    {"ways",
     "Whether the search also tries other values of the fields that say how tiles move, those that are not overridden, "
     "and simulates the plans; matters with effort other than fast."},
    {"effort",
     "How many plans are tried: fast compares estimates only, normal and high also simulate a fixed number of "
     "operations, so that every process decides alike; a larger effort tries what a smaller one does, and more."},
    {"grid",
     "How the GPUs are laid over C: as square as possible, as XKBLAS and PARALiA lay them, or so that the scarcest "
     "links carry the fewest bytes; matters for a matrix product on several GPUs."},
    {"k-split",
     "Into how many parts k is cut, each for its own part of the GPUs, whose sums of C are added up; all: one for each "
     "GPU; matters for a matrix product on several GPUs."},
    {"distribution",
     "Which GPU computes which tiles of C: contiguous blocks of whole tiles, or in proportion to shares, or tiles "
     "dealt in one of five ways; matters with several GPUs."},
    {"shares",
     "How much of C each GPU computes: equal parts, or parts in proportion to its speed, to its speed over its watts "
     "(pdp), or to its speed squared over its watts (edp); matters with several GPUs that differ."},
    {"tile-choice",
     "Who chooses the tile: our form of the thesis' heuristic, a search that estimates plans, the rule of a library, "
     "or "
     "an overlap model; repeat times the five best of gemmex; matters with tile=auto."},
    {"tile",
     "Side of the square tiles into which A, B and C are cut, columns of C of others, or length of the pieces of "
     "vectors; auto leaves it to tile-choice."},
    {"tile-rows",
     "How many rows a tile of C has: the side of a tile, or all of its block, so that copies are of whole columns; "
     "matters for a matrix product whose tiles all fit in memory."},
    {"tile-depth",
     "How much of k a tile of A or B has: the side of a tile; twice as much from tile to tile, so that kernels begin "
     "early and tiles are large later; that side for one matrix, and whole columns of the one whose columns run along "
     "k; or all of its part; matters for a matrix product whose tiles all fit in memory."},
    {"small-tiles",
     "Cuts the first or the last tiles of k, or the last rows and columns of tiles of C, in smaller ones, so that "
     "kernels begin or results leave earlier; matters for a matrix product."},
    {"ragged",
     "What is left of a side after whole tiles, if it is at most half a tile: a tile of its own, or a part of the last "
     "whole one; matters for a matrix product."},
    {"routing",
     "From which copy a tile is fetched: its home, the fastest pair, the fastest route of a link map, the "
     "earliest arrival by pairs (eta) or by links (link-eta), or the nearest GPU by speed (peer-rank) or by number "
     "(nearest-id) before the home; matters where several memories hold a tile."},
    {"relays",
     "Also plans with tiles that go over other GPUs where such a route is faster, and takes that plan where it is "
     "estimated to be; matters on machines that have such routes."},
    {"max-hops", "How many GPUs a route of routing=link-map may pass over; matters with that routing only."},
    {"hop-rule",
     "Which routes over other GPUs routing=link-map takes: those whose times add up to less, or those whose narrowest "
     "link is much wider, in as many pieces as chunks says, as PARALiA's library does; matters with that routing "
     "only."},
    {"batch",
     "Sends a tile of A or B to all GPUs that need it in one chain when the first of them needs it; matters with "
     "several GPUs, caching and enough memory."},
    {"chunks",
     "Into how many pieces a tile is cut in such a chain, so that its hops overlap; matters with batch, with "
     "hop-rule=bottleneck and with staged peer-copies."},
    {"min-chunk-bytes",
     "Fewer pieces than chunks where a piece would be smaller than this; matters with batch and hop-rule=bottleneck."},
    {"sends",
     "Whether copies from one GPU to others run together or one after another in the order of the plan; matters with "
     "several GPUs."},
    {"peer-copies",
     "Whether a copy from GPU to GPU is direct or goes over a buffer on a host, all of them or those from and to the "
     "home of a tile; matters where GPUs copy from and to each other."},
    {"copy-rates",
     "Whether copies between a host and a GPU are simulated at the rates of the machine, or no faster than beside a "
     "copy the other way; matters where something is copied so."},
    {"c-tiles",
     "When a tile of C is fetched: before its kernels, after them, or after them only where C shares its home with A "
     "or B; matters with beta other than 0 and GPUs where C is not at home."},
    {"write-backs",
     "Whether results go home in the queue of the other copies of their pair or in one of their own, there at once or, "
     "where all tiles fit, when the GPU begins its next tile of C; matters where C is not at home on the GPU that "
     "computes it."},
    {"order",
     "Which tile of C a GPU takes next: the lowest, the one with the fewest tiles to fetch, or the one whose tiles "
     "arrive first; eta-all: which sub-problem of all tiles of C; steps: all tiles of C take the lowest k, then the "
     "next; matters where its tiles all fit in memory."},
    {"agent",
     "By whose rules GPUs take tasks while time goes by, knowing only what has happened: those of a library, or none, "
     "where the planner decides ahead; matters where a matrix is multiplied."},
    {"caching", "Whether a tile stays on a GPU after its first use; matters where a GPU uses it again."},
    {"in-place",
     "Whether a GPU uses the tiles that are at home on it where they are, or copies them as any others; matters where "
     "a GPU that computes has a matrix."},
    {"warm",
     "Whether GPUs hold from the start what an earlier call of the same product has left there, as libraries do that "
     "keep their caches; such a plan is planned and simulated only; matters with caching."},
    {"input-buffers",
     "How many tiles of A, and how many of B, a GPU that keeps none holds at once, so how far copies run ahead of "
     "kernels; 0: as many as its memory holds; matters without caching."},
    {"overlap",
     "Whether a GPU copies while it computes and runs kernels side by side, or does one thing after another."},
    {"compute-streams",
     "How many kernels a GPU may run side by side; auto takes as many as its kernels need to fill it."},
    {"memory",
     "What happens where tiles do not all fit: the problem is cut in cubes that do, or tiles are evicted; matters "
     "then only."},
    {"memory-fraction",
     "The part of a GPU's memory that tiles may take; matters where it is too small for all of them."},
    {"issue",
     "Whether one host thread hands over the operations of all GPUs, or one thread those of each; matters with "
     "several GPUs."},
    {"graph",
     "Whether a plan that is run again may be handed over as one graph, made once, where it gains by that; "
     "matters in simulations where the machine says what graphs cost."},
    {"task-us",
     "Microseconds of its thread that the run-time system of the emulated library takes for a kernel, beside what the "
     "machine takes to hand it over; matters in simulations."},
    {"request-us", "The same for a copy from or to a host; matters in simulations."},
    {"peer-us", "The same for a copy from one GPU to another; matters in simulations with several GPUs."},
    {"gpu-us",
     "Microseconds that the run-time system of the library takes for each GPU before the first operation of a call; "
     "matters in simulations."},
}};

}  // namespace

std::string meaning_of(std::string_view key) {
  const auto found = std::ranges::find(meanings, key, [](const auto& entry) { return entry.first; });
  return std::string{found == meanings.end() ? std::string_view{} : found->second};
}

}  // namespace tilerail
