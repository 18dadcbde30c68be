#include "report/figure/gantt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "model/base/indices.hpp"
#include "model/base/text.hpp"
#include "plan/op_kinds.hpp"
#include "report/figure/svg.hpp"

namespace tilerail {
namespace {

constexpr double page_width = 1000, row_height = 17, bar_height = 13;
constexpr double above = 64, below = 46, margin = 10;  // around the rows of a timeline
constexpr double pixel = 1, thin = 2 * pixel;
constexpr size_t most_rows = 56;
constexpr std::string_view band_colour = "#f3f4f6";

/// The categories of operations: kinds, of which `copy` is a copy within one memory, then
/// copies between memories. Kernels have warm colours, copies cold ones.
struct Category {
  std::string_view name, colour;
};
constexpr size_t copy_in = op_kind_count, copy_out = copy_in + 1, between = copy_in + 2;
constexpr std::array<Category, op_kind_count + 3> categories{
    {{"copy within a memory", "#8d99a6"},
     {"GEMM", "#e07b39"},
     {"AXPBY", "#f2c14e"},
     {"join", "#000000"},
     {"POTRF", "#8c3b2a"},
     {"TRSM", "#d9a06b"},
     {"SYRK", "#c9563c"},
     {"GEQRT", "#6e2b20"},
     {"ORMQR", "#c26a5a"},
     {"TSQRT", "#a8452e"},
     {"TSMQR", "#d98c3f"},
     {"copy from a host", "#2f6db5"},
     {"copy to a host", "#3a9d7c"},
     {"copy between GPUs", "#8a63b0"}}};

struct Bar {
  double start = 0, end = 0;  // s
};

/// The bars of a queue, or of all queues of one direction on a device, by category.
struct Row {
  std::string device, label;
  std::map<size_t, std::vector<Bar>> bars = {};
};

/// The category of copies in this queue.
size_t direction_of(const AnnotatedQueue& queue, const std::vector<std::string>& hosts) {
  const auto is_host = [&](const std::string& name) {
    return std::ranges::find(hosts, name) != hosts.end();
  };
  if (queue.src == queue.dst) return size_t(OpKind::copy);
  return is_host(queue.dst) ? copy_out : is_host(queue.src) ? copy_in : between;
}

/// The name of the queue, without the prefix that names its device.
std::string label_of(const AnnotatedQueue& queue) {
  const std::string device = queue.device + " ";
  return queue.name.starts_with(device) ? queue.name.substr(device.size()) : queue.name;
}

std::vector<Row> rows_of(const AnnotatedTimeline& timeline) {
  const std::vector<Track> tracks = tracks_of(timeline);
  std::vector<Row> rows;
  for (const Track& track : tracks) {
    const AnnotatedQueue& queue = timeline.queues[track.queue];
    const size_t direction = direction_of(queue, timeline.metadata.hosts);
    std::string label = label_of(queue);
    if (tracks.size() > most_rows)
      label = direction < op_kind_count ? "kernels" : categories[direction].name;
    auto row = std::ranges::find_if(rows, [&](const Row& other) {
      return other.device == queue.device && other.label == label;
    });
    if (row == rows.end()) row = rows.insert(row, {queue.device, label});
    for (const Slice& slice : track.slices) {
      const AnnotatedOp& op = timeline.ops[slice.op];
      if (op.kind == OpKind::join || op.duration() <= 0) continue;
      row->bars[op.kind == OpKind::copy ? direction : size_t(op.kind)].push_back(
          {op.start, op.end});
    }
  }
  return rows;
}

/// Fewer bars that look the same: merges overlapping bars, and neighbours with a gap of
/// less than half a pixel if one of them is thin. `resolution`: seconds per pixel.
std::vector<Bar> merged(std::vector<Bar> bars, double resolution) {
  std::ranges::stable_sort(bars, {}, &Bar::start);
  std::vector<Bar> result;
  for (const Bar& bar : bars) {
    const auto is_thin = [&](const Bar& any) {
      return any.end - any.start < thin * resolution;
    };
    const bool joins =
        !result.empty() && bar.start - result.back().end < resolution / 2 &&
        (bar.start < result.back().end || is_thin(bar) || is_thin(result.back()));
    if (joins)
      result.back().end = std::max(result.back().end, bar.end);
    else
      result.push_back(bar);
  }
  return result;
}

/// The rate of all products or, without any, of all additions; "" without work.
std::string rate_text(const AnnotatedTimeline& timeline) {
  double products = 0, all = 0;
  for (const AnnotatedOp& op : timeline.ops) {
    all += op.flops;
    if (op.kind != OpKind::axpby) products += op.flops;
  }
  const double flops = products > 0 ? products : all;
  if (flops <= 0 || timeline.makespan() <= 0) return "";
  return fmt::format(", {:.4g} TFLOP/s", flops / timeline.makespan() / 1e12);
}

std::string title_of(const AnnotatedTimeline& timeline) {
  const TimelineMetadata& metadata = timeline.metadata;
  return fmt::format("{}, tile {}, on {} ({}): {}{}", metadata.policy, metadata.tile,
                     metadata.machine, metadata.backend,
                     seconds_text(timeline.makespan()), rate_text(timeline));
}

/// A timeline, its rows, and their place.
struct Panel {
  const AnnotatedTimeline& timeline;
  std::string title;
  std::vector<Row> rows = rows_of(timeline);
  double top = 0;  // of the rows

  double height() const { return row_height * double(std::max<size_t>(rows.size(), 1)); }
  double bottom() const { return top + height(); }
};

class Chart {
 public:
  explicit Chart(std::vector<Panel> panels) : panels_{std::move(panels)} {
    double left = 0, right = 0, span = 0, height = 0;
    for (Panel& panel : panels_) {
      panel.top = height + above;
      height = panel.bottom() + below;
      span = std::max(span, panel.timeline.makespan());
      for (const Row& row : panel.rows) {
        left = std::max(left, text_width(row.label));
        right = std::max(right, text_width(row.device));
      }
    }
    unit_ = time_unit(span);
    time_ = {0, span > 0 ? span * unit_.per_second : 1, left + 2 * margin,
             page_width - right - 2 * margin};
    svg_ = Svg{page_width, height};
  }

  std::string draw() && {
    for (const Panel& panel : panels_) {
      draw_devices(panel);
      draw_axis(panel);
      for (const auto i : indices(panel.rows))
        draw_row(panel.rows[i], panel.top + row_height * double(i));
      const double end = at(panel.timeline.makespan());
      svg_.line({end, panel.top}, {end, panel.bottom()}, {.dashed = true});
      draw_title(panel);
    }
    return std::move(svg_).finish();
  }

 private:
  double at(double seconds) const { return time_.at(seconds * unit_.per_second); }

  /// Bands behind every other device, and the names of devices.
  void draw_devices(const Panel& panel) {
    bool shaded = true;
    for (auto first = panel.rows.begin(); first != panel.rows.end(); shaded = !shaded) {
      const auto last = std::find_if(first, panel.rows.end(), [&](const Row& row) {
        return row.device != first->device;
      });
      const double top = panel.top + row_height * double(first - panel.rows.begin());
      const double height = row_height * double(last - first);
      if (shaded)
        svg_.rect({time_.begin, top}, time_.end - time_.begin, height, band_colour);
      svg_.text({time_.end + margin, top + height / 2 + 4}, first->device,
                {.bold = true});
      first = last;
    }
  }

  void draw_axis(const Panel& panel) {
    for (const double tick : time_.ticks()) {
      const double x = time_.at(tick);
      svg_.line({x, panel.top}, {x, panel.bottom()}, {Svg::grid_colour, 0.6});
      svg_.text({x, panel.bottom() + 14}, fmt::format("{:g}", tick),
                {Svg::Anchor::middle, 11});
    }
    svg_.text({(time_.begin + time_.end) / 2, panel.bottom() + 30},
              fmt::format("time ({})", unit_.name), {Svg::Anchor::middle});
  }

  void draw_row(const Row& row, double top) {
    svg_.text({time_.begin - margin / 2, top + bar_height}, row.label,
              {Svg::Anchor::end});
    const double resolution =
        (time_.last - time_.first) / unit_.per_second / (time_.end - time_.begin);
    for (const auto& [category, bars] : row.bars)
      for (const Bar& bar : merged(bars, resolution)) {
        constexpr double gap = 0.5, wide = 5;  // a gap separates wide neighbours
        const double long_for = (bar.end - bar.start) / resolution;
        svg_.rect({at(bar.start), top + (row_height - bar_height) / 2},
                  long_for > wide ? long_for - gap : std::max(long_for, gap), bar_height,
                  categories[category].colour);
      }
  }

  void draw_title(const Panel& panel) {
    svg_.text({margin, panel.top - 46}, panel.timeline.metadata.problem,
              {.size = 13, .bold = true});
    svg_.text({margin, panel.top - 28}, panel.title, {.size = 13});
    std::map<size_t, bool> used;
    for (const Row& row : panel.rows)
      for (const auto& [category, bars] : row.bars) used[category] = true;
    double x = time_.begin;
    for (const auto& [category, _] : used) {
      svg_.rect({x, panel.top - 18}, 12, 10, categories[category].colour);
      svg_.text({x + 16, panel.top - 9}, categories[category].name);
      x += 32 + text_width(categories[category].name);
    }
  }

  std::vector<Panel> panels_;
  TimeUnit unit_;
  Scale time_;
  Svg svg_{0, 0};
};

}  // namespace

std::string gantt_svg(std::span<const NamedTimeline> timelines) {
  std::vector<Panel> panels;
  for (const NamedTimeline& named : timelines) {
    std::string title = title_of(*named.timeline);
    if (timelines.size() > 1) title = fmt::format("{}: {}", named.name, title);
    panels.push_back({*named.timeline, std::move(title)});
  }
  if (timelines.size() > 1)
    if (const double other = timelines[1].timeline->makespan(); other > 0)
      panels[0].title += ", " + error_text(timelines[0].timeline->makespan() / other - 1);
  return Chart{std::move(panels)}.draw();
}

}  // namespace tilerail
