#include "report/trace/perfetto.hpp"

#include <array>

#include "report/timeline/string_table.hpp"
#include "report/trace/protobuf.hpp"

namespace tilerail {
namespace {

// Field numbers of perfetto's messages (protos/perfetto/trace of its repository).
namespace trace_field {
constexpr std::uint32_t packet = 1;
}
namespace packet_field {
constexpr std::uint32_t timestamp = 8, sequence_id = 10, track_event = 11, interned_data = 12, sequence_flags = 13,
                        track_descriptor = 60;
}
namespace descriptor_field {
constexpr std::uint32_t uuid = 1, name = 2, process = 3, parent_uuid = 5, child_ordering = 11, sibling_order_rank = 12;
}
namespace process_field {
constexpr std::uint32_t pid = 1, process_name = 6;
}
namespace event_field {
constexpr std::uint32_t category_iids = 3, debug_annotations = 4, type = 9, name_iid = 10, track_uuid = 11;
}
namespace annotation_field {
constexpr std::uint32_t name_iid = 1, uint_value = 3, double_value = 5;
}
namespace interned_field {
constexpr std::uint32_t event_categories = 1, event_names = 2, debug_annotation_names = 3;
constexpr std::uint32_t iid = 1, name = 2;  // of an entry of any of them
}  // namespace interned_field

constexpr std::uint64_t sequence = 1, state_cleared = 1, needs_state = 2;  // TracePacket.SequenceFlags
constexpr std::uint64_t slice_begin = 1, slice_end = 2;                    // TrackEvent.Type
constexpr std::uint64_t explicit_order = 3;                                // TrackDescriptor.ChildTracksOrdering

enum Annotation { op_number, bytes, flops, ready };
constexpr std::array<std::string_view, 4> annotation_names = {"op", "bytes", "flops", "ready_s"};

/// Interning ids start at 1; 0 means none.
std::uint64_t category_iid(OpKind kind) { return static_cast<std::uint64_t>(kind) + 1; }
std::uint64_t annotation_iid(Annotation annotation) { return static_cast<std::uint64_t>(annotation) + 1; }

class Writer {
 public:
  Writer() {
    ProtoMessage interned, packet;
    for (const OpKind kind : all_op_kinds()) {
      add_entry(interned, interned_field::event_categories, category_iid(kind), to_string(kind));
    }
    for (const Annotation a : {op_number, bytes, flops, ready}) {
      add_entry(interned, interned_field::debug_annotation_names, annotation_iid(a), annotation_names[a]);
    }
    packet.block(packet_field::interned_data, interned);
    add_packet(packet, state_cleared | needs_state);
  }

  void process(std::uint64_t pid, const NamedTimeline& named) {
    const std::uint64_t process_uuid = pid << 32;
    ProtoMessage process, descriptor;
    process.varint(process_field::pid, pid);
    process.block(process_field::process_name, trace_title(named));
    descriptor.varint(descriptor_field::uuid, process_uuid);
    descriptor.block(descriptor_field::process, process);
    descriptor.varint(descriptor_field::child_ordering, explicit_order);
    add_descriptor(descriptor);

    name_iids_.assign(op_kind_count * named.timeline->labels.size(), 0);
    const std::vector<Track> tracks = tracks_of(*named.timeline);
    for (std::size_t i = 0; i < tracks.size(); ++i) {
      ProtoMessage track;
      track.varint(descriptor_field::uuid, process_uuid + i + 1);
      track.block(descriptor_field::name, named.timeline->queues[tracks[i].queue].name);
      track.varint(descriptor_field::parent_uuid, process_uuid);
      track.varint(descriptor_field::sibling_order_rank, i);
      add_descriptor(track);
      for (const Slice& slice : tracks[i].slices) add_slice(process_uuid + i + 1, *named.timeline, slice);
    }
  }

  std::string finish() && { return std::move(trace_).take(); }

 private:
  static void add_entry(ProtoMessage& interned, std::uint32_t table, std::uint64_t iid, std::string_view name) {
    ProtoMessage entry;
    entry.varint(interned_field::iid, iid);
    entry.block(interned_field::name, name);
    interned.block(table, entry);
  }

  void add_packet(ProtoMessage& packet, std::uint64_t flags) {
    packet.varint(packet_field::sequence_id, sequence);
    packet.varint(packet_field::sequence_flags, flags);
    trace_.block(trace_field::packet, packet);
  }

  void add_descriptor(const ProtoMessage& descriptor) {
    ProtoMessage packet;
    packet.block(packet_field::track_descriptor, descriptor);
    add_packet(packet, needs_state);
  }

  /// A name is written out in the packet that uses it first; later packets refer to it by number.
  std::uint64_t name_iid(const AnnotatedTimeline& timeline, const AnnotatedOp& op, ProtoMessage& packet) {
    std::uint64_t& iid = name_iids_[op.label * op_kind_count + static_cast<std::size_t>(op.kind)];
    if (iid != 0) return iid;
    const std::size_t known = names_.size();
    const std::string name = slice_name(timeline, op);
    iid = names_.intern(name) + 1u;
    if (names_.size() > known) {
      ProtoMessage interned;
      add_entry(interned, interned_field::event_names, iid, name);
      packet.block(packet_field::interned_data, interned);
    }
    return iid;
  }

  void add_slice(std::uint64_t track, const AnnotatedTimeline& timeline, const Slice& slice) {
    const AnnotatedOp& op = timeline.ops[slice.op];
    packet_.clear();
    event_.clear();
    event_.varint(event_field::type, slice_begin);
    event_.varint(event_field::track_uuid, track);
    event_.varint(event_field::category_iids, category_iid(op.kind));
    event_.varint(event_field::name_iid, name_iid(timeline, op, packet_));
    annotate(op_number, annotation_field::uint_value, slice.op);
    annotate(bytes, annotation_field::uint_value, static_cast<std::uint64_t>(op.bytes));
    annotate(flops, annotation_field::double_value, op.flops);
    annotate(ready, annotation_field::double_value, op.ready);
    packet_.varint(packet_field::timestamp, static_cast<std::uint64_t>(slice.begin_ns));
    packet_.block(packet_field::track_event, event_);
    add_packet(packet_, needs_state);

    packet_.clear();
    event_.clear();
    event_.varint(event_field::type, slice_end);
    event_.varint(event_field::track_uuid, track);
    packet_.varint(packet_field::timestamp, static_cast<std::uint64_t>(slice.end_ns));
    packet_.block(packet_field::track_event, event_);
    add_packet(packet_, needs_state);
  }

  template <class Value>
  void annotate(Annotation annotation, std::uint32_t value_field, Value value) {
    annotation_.clear();
    annotation_.varint(annotation_field::name_iid, annotation_iid(annotation));
    if constexpr (std::is_floating_point_v<Value>) {
      annotation_.number(value_field, value);
    } else {
      annotation_.varint(value_field, value);
    }
    event_.block(event_field::debug_annotations, annotation_);
  }

  ProtoMessage trace_, packet_, event_, annotation_;  // the last three are reused for every slice
  StringTable names_;                                 // of slices, in all timelines
  std::vector<std::uint64_t> name_iids_;  // of the current timeline, by label and kind; 0: not looked up yet
};

}  // namespace

std::string to_pftrace(std::span<const NamedTimeline> timelines) {
  Writer writer;
  for (std::size_t i = 0; i < timelines.size(); ++i) writer.process(i + 1, timelines[i]);
  return std::move(writer).finish();
}

}  // namespace tilerail
