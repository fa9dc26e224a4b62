// The tree is built in place: a key is put into its map when it is read, and its value is written where it will stay.
// Parents do not grow while a child is open, so a pointer to an open map or list holds.
//
// Anchored maps and lists are remembered as the path to them (which child, of which child, from the root), because
// nodes move when their parents grow. An anchor knows how many nodes and bytes it stands for, so an alias is checked
// against the limits before anything is copied.
#include "base/yaml.h"

#include <yaml.h>

#include <boost/json.hpp>
#include <unordered_map>

#include "base/yaml_fault.h"
#include "base/yaml_scalar.h"
#include "base/yaml_text.h"

namespace sluice {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

// libyaml's events, one at a time. The event given last is valid until the next.
class Events {
 public:
  explicit Events(std::string_view text) {
    started_ = yaml_parser_initialize(&parser_) == 1;
    if (!started_) return;
    yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Events() {
    yaml_event_delete(&event_);
    if (started_) yaml_parser_delete(&parser_);
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  bool next() {
    yaml_event_delete(&event_);
    return started_ && yaml_parser_parse(&parser_, &event_) == 1;
  }
  const yaml_event_t& event() const { return event_; }
  const yaml_parser_t& parser() const { return parser_; }

 private:
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool started_ = false;
};

std::string_view text_of(const yaml_char_t* text) {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

Mark mark_of(const yaml_mark_t& mark) {
  return {static_cast<uint32_t>(mark.line + 1), static_cast<uint32_t>(mark.column + 1)};
}

// What an alias stands for: a node at a path from the root, or a copy where the node has no place in the tree (a key)
// or may lose it (a scalar is as cheap to copy as to find; what a merge consumes is gone when its map ends).
struct Anchor {
  bool open = true;  // its node is not complete yet
  bool copied = false;
  std::vector<uint32_t> path;
  size_t first_mark = 0;
  size_t nodes = 1;
  size_t bytes = 0;
  size_t height = 0;  // levels of maps and lists, its own included
  json::value copy;
  std::vector<Mark> copy_marks;
  std::string text;  // of a scalar, as a key needs it
  bool scalar = false;
};

constexpr size_t kNone = static_cast<size_t>(-1);

// A `<<` in an open map: its value is built like any other, and taken apart when the map ends.
struct Merge {
  size_t place = kNone;  // of its member in the map
  size_t first_mark = 0;
  size_t end_mark = 0;
  Mark value;  // where the value stands
};

// A map or list that is not complete yet.
struct Frame {
  json::value* node = nullptr;
  json::value* slot = nullptr;  // a map's member that waits for its value; null when a key is next
  Mark key;                     // of that member
  size_t first_mark = 0;
  size_t first_anchor = 0;  // anchors from here on stand inside
  size_t first_byte = 0;    // the builder's count when it began
  size_t height = 1;
  size_t anchor = kNone;
  Merge merge;
};

class Builder {
 public:
  Builder(const std::string& file, const YamlLimits& limits) : file_(file), limits_(limits) {}

  // Takes one event of a document's content. False when there is an error().
  bool take(const yaml_event_t& event) {
    switch (event.type) {
      case YAML_SCALAR_EVENT:
        return scalar(event);
      case YAML_ALIAS_EVENT:
        return alias(event);
      case YAML_MAPPING_START_EVENT:
        return open(event, event.data.mapping_start.anchor, event.data.mapping_start.tag, "map");
      case YAML_SEQUENCE_START_EVENT:
        return open(event, event.data.sequence_start.anchor, event.data.sequence_start.tag, "seq");
      case YAML_MAPPING_END_EVENT:
        return merge() && close();
      case YAML_SEQUENCE_END_EVENT:
        return close();
      default:
        return true;
    }
  }

  // The document that is complete now; the builder is then ready for the next one.
  Document finish() {
    anchors_.clear();
    names_.clear();
    // The builder keeps its own room for marks: the next document need not grow it again, and this one's has no slack.
    Document document{.root = std::exchange(root_, nullptr), .file = file_, .marks = marks_};
    marks_.clear();
    return document;
  }

  Error error() && { return std::move(error_); }

 private:
  bool fail(Mark mark, std::string message, std::string next = "", Code code = Code::invalid) {
    error_ = Error{.code = code,
                   .message = std::move(message),
                   .next = std::move(next),
                   .position = Position{file_, mark.line, mark.column}};
    return false;
  }

  bool key_is_next() const { return !frames_.empty() && frames_.back().node->is_object() && !frames_.back().slot; }

  // Counts what is about to be made. Nothing is ever uncounted, so work is bounded as well as memory.
  bool charge(size_t nodes, size_t bytes, Mark mark) {
    nodes_ += nodes;
    bytes_ += bytes;
    if (nodes_ <= limits_.max_nodes && bytes_ <= limits_.max_bytes) [[likely]]
      return true;
    std::string most = nodes_ > limits_.max_nodes ? std::to_string(limits_.max_nodes) + " values"
                                                  : std::to_string(limits_.max_bytes) + " bytes of strings and keys";
    return fail(mark, "the text has more than " + most + ", aliases written out",
                "split it, or repeat less with aliases", Code::limit);
  }

  // Counts a copy that is about to be made for an alias or a merge.
  bool charge_copy(const Anchor& anchor, Mark mark) {
    added_nodes_ += anchor.nodes;
    added_bytes_ += anchor.bytes;
    bool too_many = added_nodes_ > limits_.max_added_nodes;
    if (!too_many && added_bytes_ <= limits_.max_added_bytes) return charge(anchor.nodes, anchor.bytes, mark);
    std::string most = too_many ? std::to_string(limits_.max_added_nodes) + " values"
                                : std::to_string(limits_.max_added_bytes) + " bytes of strings and keys";
    return fail(mark, "aliases and merges add more than " + most + " to the text", "repeat less with aliases",
                Code::limit);
  }

  bool check_depth(size_t depth, Mark mark) {
    if (depth <= limits_.max_depth) return true;
    return fail(mark, "more than " + std::to_string(limits_.max_depth) + " maps and lists inside one another",
                "nest less deeply", Code::limit);
  }

  // Where the value that begins at `mark` goes. Its mark is pushed.
  json::value& next_slot(Mark mark) {
    if (frames_.empty()) {
      marks_.push_back(mark);
      return root_;
    }
    Frame& frame = frames_.back();
    if (auto* array = frame.node->if_array()) {
      marks_.push_back(mark);
      if (array->capacity() == 0) array->reserve(4);
      return array->emplace_back(nullptr);
    }
    marks_.push_back(frame.key);
    if (frame.merge.place != kNone && frame.merge.end_mark == 0) frame.merge.value = mark;
    return *frame.slot;
  }

  // The value begun last is complete, `height` levels high.
  void value_done(size_t height) {
    if (frames_.empty()) return;
    Frame& frame = frames_.back();
    if (frame.merge.place != kNone && frame.merge.end_mark == 0) {
      frame.merge.end_mark = marks_.size();
      // The merged map's members become members of this one; a list of maps goes, too.
      size_t gone = frame.slot->is_array() ? 2 : 1;
      height = height > gone ? height - gone : 0;
    }
    frame.height = std::max(frame.height, height + 1);
    frame.slot = nullptr;
  }

  bool scalar(const yaml_event_t& event) {
    const auto& scalar = event.data.scalar;
    std::string_view text(reinterpret_cast<const char*>(scalar.value), scalar.length);
    Mark mark = mark_of(event.start_mark);
    bool plain = scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (!charge(1, text.size(), mark)) return false;
    if (key_is_next()) {
      if (scalar.tag != nullptr && !tagged_type(text_of(scalar.tag), text, mark)) return false;
      if (scalar.anchor != nullptr) {
        json::value copy(text);
        if (!remember(text_of(scalar.anchor), text, copy, mark)) return false;
      }
      return key(text, plain && scalar.tag == nullptr && text == "<<", mark);
    }
    ScalarType type = plain ? core_schema_type(text) : ScalarType::string;
    if (scalar.tag != nullptr) {
      auto tagged = tagged_type(text_of(scalar.tag), text, mark);
      if (!tagged) return false;
      type = *tagged;
    }
    json::value& slot = next_slot(mark);
    std::string_view wrong = store_scalar(type, text, slot);
    if (!wrong.empty()) return fail(mark, std::string(wrong), "quote it to keep it as text");
    if (scalar.anchor != nullptr && !remember(text_of(scalar.anchor), text, slot, mark)) return false;
    value_done(0);
    return true;
  }

  // The type that a tag gives to a scalar; none, with an error, if the tag is unknown or the text is not of that type.
  std::optional<ScalarType> tagged_type(std::string_view tag, std::string_view text, Mark mark) {
    if (tag == "!") return ScalarType::string;
    ScalarType found = core_schema_type(text);
    std::string_view name = tag.starts_with(kTagPrefix) ? tag.substr(kTagPrefix.size()) : "";
    ScalarType asked = ScalarType::string;
    if (name == "int") {
      asked = ScalarType::integer;
    } else if (name == "float") {
      asked = ScalarType::real;
      if (found == ScalarType::not_finite) return found;
      if (found == ScalarType::integer) {
        bool decimal = text.find_first_of("ox") == std::string_view::npos;
        if (decimal) return ScalarType::real;
      }
    } else if (name == "bool") {
      asked = ScalarType::boolean;
    } else if (name == "null") {
      asked = ScalarType::null;
    } else if (name == "map" || name == "seq") {
      misplaced_tag(name, "scalar", mark);
      return std::nullopt;
    } else if (name != "str") {
      unknown_tag(tag, mark);
      return std::nullopt;
    }
    if (asked == ScalarType::string || asked == found) return asked;
    fail(mark, "the tag !!" + std::string(name) + " stands before a value that is not " + std::string(describe(asked)),
         "change the value, or remove the tag");
    return std::nullopt;
  }

  bool misplaced_tag(std::string_view name, std::string_view node, Mark mark) {
    return fail(mark, "the tag !!" + std::string(name) + " does not fit a " + std::string(node), "remove the tag");
  }

  bool unknown_tag(std::string_view tag, Mark mark) {
    return fail(mark, "the tag " + std::string(tag) + " is not known",
                "only !!str !!int !!float !!bool !!null !!map !!seq are known");
  }

  // Whether a map ("map") or a list ("seq") may have that tag.
  bool check_tag(std::string_view tag, std::string_view type, Mark mark) {
    std::string_view name = tag.starts_with(kTagPrefix) ? tag.substr(kTagPrefix.size()) : "";
    if (tag == "!" || name == type) return true;
    for (std::string_view known : {"str", "int", "float", "bool", "null", "map", "seq"}) {
      if (name == known) return misplaced_tag(name, type == "map" ? "map" : "list", mark);
    }
    return unknown_tag(tag, mark);
  }

  bool key(std::string_view text, bool merges, Mark mark) {
    Frame& frame = frames_.back();
    json::object& object = frame.node->get_object();
    if (object.capacity() == 0) object.reserve(4);
    auto [member, added] = object.emplace(text, nullptr);
    if (!added) return duplicate(frame, member, mark);
    frame.slot = &member->value();
    frame.key = mark;
    if (merges) frame.merge = {.place = object.size() - 1, .first_mark = marks_.size()};
    return true;
  }

  bool duplicate(const Frame& frame, const json::key_value_pair* first, Mark mark) {
    size_t index = frame.first_mark + 1;
    const json::object& object = frame.node->get_object();
    for (const auto* member = object.begin(); member != first; ++member) index += count_nodes(member->value());
    std::string name(first->key());
    return fail(mark,
                "duplicate key \"" + name + "\": it stands at " +
                    to_string(Position{"", marks_[index].line, marks_[index].column}) + " already",
                "remove one of the two");
  }

  bool open(const yaml_event_t& event, const yaml_char_t* anchor, const yaml_char_t* tag, std::string_view type) {
    Mark mark = mark_of(event.start_mark);
    if (key_is_next()) return fail(mark, "a map or a list cannot be a key", "use a scalar as the key");
    if (tag != nullptr && !check_tag(text_of(tag), type, mark)) return false;
    if (!check_depth(frames_.size() + 1, mark) || !charge(1, 0, mark)) return false;
    json::value& slot = next_slot(mark);
    if (type == "map") {
      slot.emplace_object();
    } else {
      slot.emplace_array();
    }
    Frame frame{.node = &slot, .first_mark = marks_.size() - 1, .first_byte = bytes_};
    if (anchor != nullptr) {
      Anchor* made = name_anchor(text_of(anchor), mark);
      if (made == nullptr) return false;
      frame.anchor = anchors_.size() - 1;
      made->first_mark = frame.first_mark;
      for (const Frame& outer : frames_) {
        size_t size = outer.node->is_object() ? outer.node->get_object().size() : outer.node->get_array().size();
        made->path.push_back(static_cast<uint32_t>(size - 1));
      }
    }
    frame.first_anchor = anchors_.size();
    frames_.push_back(frame);
    return true;
  }

  bool close() {
    const Frame& frame = frames_.back();
    if (frame.anchor != kNone) {
      Anchor& anchor = anchors_[frame.anchor];
      anchor.open = false;
      anchor.nodes = marks_.size() - frame.first_mark;
      anchor.bytes = bytes_ - frame.first_byte;
      anchor.height = frame.height;
    }
    size_t height = frame.height;
    frames_.pop_back();
    value_done(height);
    return true;
  }

  Anchor* name_anchor(std::string_view name, Mark mark) {
    if (anchors_.size() >= limits_.max_anchors) {
      fail(mark, "the document has more than " + std::to_string(limits_.max_anchors) + " anchors", "use fewer anchors",
           Code::limit);
      return nullptr;
    }
    names_.insert_or_assign(std::string(name), anchors_.size());
    return &anchors_.emplace_back();
  }

  bool remember(std::string_view name, std::string_view text, const json::value& scalar, Mark mark) {
    Anchor* anchor = name_anchor(name, mark);
    if (anchor == nullptr) return false;
    anchor->open = false;
    anchor->copied = anchor->scalar = true;
    anchor->copy = scalar;
    anchor->copy_marks = {mark};
    anchor->text = text;
    anchor->bytes = text.size();
    return true;
  }

  const json::value& node_at(const std::vector<uint32_t>& path) const {
    const json::value* node = &root_;
    for (uint32_t place : path) {
      const auto* object = node->if_object();
      node = object != nullptr ? &(object->begin() + place)->value() : &node->get_array()[place];
    }
    return *node;
  }

  bool alias(const yaml_event_t& event) {
    Mark mark = mark_of(event.start_mark);
    std::string name(text_of(event.data.alias.anchor));
    auto named = names_.find(name);
    if (named == names_.end()) {
      return fail(mark, "the alias *" + name + " has no anchor &" + name + " before it",
                  "quote a value that begins with '*'");
    }
    const Anchor& anchor = anchors_[named->second];
    if (anchor.open)
      return fail(mark, "the alias *" + name + " stands inside the node that it names",
                  "write that part out without the alias");
    if (!charge_copy(anchor, mark)) return false;
    if (key_is_next()) {
      if (!anchor.scalar) return fail(mark, "a map or a list cannot be a key", "use a scalar as the key");
      return key(anchor.text, false, mark);
    }
    if (!check_depth(frames_.size() + anchor.height, mark)) return false;
    json::value copy = anchor.copied ? anchor.copy : node_at(anchor.path);
    next_slot(mark) = std::move(copy);
    if (anchor.copied) {
      marks_.insert(marks_.end(), anchor.copy_marks.begin() + 1, anchor.copy_marks.end());
    } else {
      for (size_t i = 1; i < anchor.nodes; ++i) marks_.push_back(Mark(marks_[anchor.first_mark + i]));
    }
    value_done(anchor.height);
    return true;
  }

  // Takes the value of `<<` out of the map that ends, and adds its members where the map has none of that name.
  bool merge() {
    Frame& frame = frames_.back();
    if (frame.merge.place == kNone) return true;
    if (!keep_anchors_of_merge(frame)) return false;
    const Merge& merge = frame.merge;
    json::object& object = frame.node->get_object();
    auto member = object.begin() + merge.place;
    json::value source = std::move(member->value());
    object.stable_erase(member);
    auto first = marks_.begin() + static_cast<ptrdiff_t>(merge.first_mark);
    auto end = marks_.begin() + static_cast<ptrdiff_t>(merge.end_mark);
    std::vector<Mark> marks(first, end);
    marks_.erase(first, end);

    size_t at = 0;
    if (!source.is_array()) return add_members(object, source, marks, at, merge.value);
    ++at;
    for (json::value& element : source.get_array()) {
      if (!add_members(object, element, marks, at, marks[at])) return false;
    }
    return true;
  }

  // Moves the members of `source`, whose marks begin at `at`, into `object`; leaves `at` behind the last of them.
  bool add_members(json::object& object, json::value& source, const std::vector<Mark>& marks, size_t& at, Mark where) {
    if (!source.is_object()) {
      return fail(where, "'<<' takes a map or a list of maps", "quote the key '<<' if it is meant as text");
    }
    ++at;
    for (auto& member : source.get_object()) {
      size_t end = at + count_nodes(member.value());
      auto [place, added] = object.emplace(member.key(), nullptr);
      if (added) {
        place->value() = std::move(member.value());
        marks_.insert(marks_.end(), marks.begin() + static_cast<ptrdiff_t>(at),
                      marks.begin() + static_cast<ptrdiff_t>(end));
      }
      at = end;
    }
    return true;
  }

  // Anchors inside the value of `<<` lose their node: they keep a copy. Those behind it move up.
  bool keep_anchors_of_merge(const Frame& frame) {
    const Merge& merge = frame.merge;
    size_t level = frames_.size() - 1;  // of the path's step into this map
    for (size_t i = frame.first_anchor; i < anchors_.size(); ++i) {
      Anchor& anchor = anchors_[i];
      if (anchor.copied) continue;
      if (anchor.path[level] == merge.place) {
        if (!charge_copy(anchor, merge.value)) return false;
        anchor.copied = true;
        anchor.copy = node_at(anchor.path);
        auto first = marks_.begin() + static_cast<ptrdiff_t>(anchor.first_mark);
        anchor.copy_marks.assign(first, first + static_cast<ptrdiff_t>(anchor.nodes));
      } else if (anchor.path[level] > merge.place) {
        --anchor.path[level];
        anchor.first_mark -= merge.end_mark - merge.first_mark;
      }
    }
    return true;
  }

  const std::string& file_;
  const YamlLimits& limits_;
  json::value root_;
  std::vector<Mark> marks_;
  std::vector<Frame> frames_;
  std::vector<Anchor> anchors_;
  std::unordered_map<std::string, size_t> names_;  // the latest anchor of each name
  size_t nodes_ = 0;
  size_t bytes_ = 0;
  size_t added_nodes_ = 0;  // of those, what aliases and merges made
  size_t added_bytes_ = 0;
  Error error_;
};

}  // namespace

// NOLINTNEXTLINE(performance-unnecessary-value-param): as every parser takes it
Result<std::vector<Document>> parse_yaml_stream(std::string_view text, std::string file, YamlLimits limits) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.size() > limits.max_bytes) {
    return Error{.code = Code::limit,
                 .message = "the text has " + std::to_string(text.size()) + " bytes; at most " +
                            std::to_string(limits.max_bytes) + " are read",
                 .next = "split it",
                 .position = Position{file, 1, 1}};
  }
  if (auto bad = check_yaml_text(text, file)) return *std::move(bad);

  std::vector<Document> documents;
  Builder builder(file, limits);
  Events events(text);
  while (events.next()) {
    const yaml_event_t& event = events.event();
    if (event.type == YAML_STREAM_END_EVENT) return documents;
    if (event.type == YAML_DOCUMENT_END_EVENT) {
      documents.push_back(builder.finish());
    } else if (!builder.take(event)) {
      return std::move(builder).error();
    }
  }
  return describe_problem(events.parser(), text, file);
}

Result<Document> parse_yaml(std::string_view text, std::string file, YamlLimits limits) {
  auto documents = parse_yaml_stream(text, file, limits);
  if (!documents) return std::move(documents).error();
  if (documents->empty()) return Document{.root = nullptr, .file = std::move(file), .marks = {Mark{1, 1}}};
  if (documents->size() > 1) {
    const Document& second = (*documents)[1];
    return Error{.code = Code::invalid,
                 .message = "a second document begins here; one was expected",
                 .next = "remove it, or the '---' before it",
                 .position = second.position_of("")};
  }
  return std::move(documents->front());
}

}  // namespace sluice
