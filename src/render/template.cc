// The tree and its marks come from base/yaml.h; whether a scalar was quoted is read from the text at its mark.
#include "render/template.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/ascii.h"
#include "base/json.h"
#include "base/yaml.h"

namespace sluice::rendering {
namespace {

constexpr size_t kMaxPlaceholder = 4096;

struct Piece {
  std::string literal;  // text as it is, if there is no placeholder
  bool is_placeholder = false;
  std::string source;  // "${a.b:c}"
  std::string path;
  std::string type;  // empty: none was said
  std::optional<std::string> otherwise;
};

std::string trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return std::string(text);
}

Result<Piece> read_placeholder(std::string_view source) {
  Piece piece{.is_placeholder = true, .source = std::string(source)};
  std::string_view inner = source.substr(2, source.size() - 3);
  const size_t colon = inner.find(':');
  if (colon != std::string_view::npos) {
    piece.otherwise = std::string(inner.substr(colon + 1));
    inner = inner.substr(0, colon);
  }
  if (const size_t bar = inner.find('|'); bar != std::string_view::npos) {
    piece.type = trimmed(inner.substr(bar + 1));
    inner = inner.substr(0, bar);
    if (piece.type != "int" && piece.type != "bool" && piece.type != "json" && piece.type != "string") {
      return Error{.code = Code::invalid,
                   .message = "`" + piece.type + "` is no type of a placeholder; write int, bool, json or string"};
    }
  }
  piece.path = trimmed(inner);
  if (piece.path.empty()) return Error{.code = Code::invalid, .message = "this placeholder names no value"};
  return piece;
}

// The pieces of a scalar. A scalar that cannot be read has its fault, with the text at which it is.
struct Pieces {
  std::vector<Piece> all;
  std::string fault;
  std::string fault_at;
};

Pieces take_apart(std::string_view text) {
  Pieces pieces;
  std::string literal;
  auto flush = [&] {
    if (!literal.empty()) pieces.all.push_back({.literal = std::move(literal)});
    literal.clear();
  };
  for (size_t i = 0; i < text.size();) {
    if (text.substr(i).starts_with("$${")) {
      literal += "${";
      i += 3;
      continue;
    }
    if (!text.substr(i).starts_with("${")) {
      literal += text[i++];
      continue;
    }
    const size_t end = text.find('}', i);
    if (end == std::string_view::npos || end - i > kMaxPlaceholder) {
      pieces.fault = "this placeholder has no }";
      pieces.fault_at = text.substr(i, 40);
      return pieces;
    }
    auto piece = read_placeholder(text.substr(i, end + 1 - i));
    if (!piece) {
      pieces.fault = piece.error().message;
      pieces.fault_at = text.substr(i, end + 1 - i);
      return pieces;
    }
    flush();
    pieces.all.push_back(*std::move(piece));
    i = end + 1;
  }
  flush();
  return pieces;
}

// Null if there is nothing there.
const json::value* look_up(const json::value& values, std::string_view path) {
  const json::value* at = &values;
  while (!path.empty() && at != nullptr) {
    size_t end = 0;
    std::string key;
    if (path.front() == '[') {
      end = path.find(']');
      if (end == std::string_view::npos) return nullptr;
      key = path.substr(1, end - 1);
      ++end;
    } else {
      end = std::min(path.find_first_of(".["), path.size());
      key = path.substr(0, end);
    }
    path.remove_prefix(end);
    if (path.starts_with('.')) path.remove_prefix(1);
    if (const json::object* object = at->if_object()) {
      at = object->if_contains(key);
    } else if (const json::array* array = at->if_array()) {
      size_t index = 0;
      const auto read = std::from_chars(key.data(), key.data() + key.size(), index);
      const bool good = read.ec == std::errc() && read.ptr == key.data() + key.size() && index < array->size();
      at = good ? &array->at(index) : nullptr;
    } else {
      at = nullptr;
    }
  }
  return at != nullptr && at->is_null() ? nullptr : at;
}

std::optional<int64_t> integer_in(std::string_view text) {
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string text_of(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : write(value);
}

// Where a scalar stands, as far as it says whether it must be a string.
bool wants_string(const std::vector<std::string>& path) {
  static const std::set<std::string, std::less<>> kMaps = {"labels", "annotations", "matchLabels", "nodeSelector"};
  static const std::set<std::string, std::less<>> kTop = {"data", "stringData", "binaryData"};
  static const std::set<std::string, std::less<>> kNames = {"name", "namespace", "generateName"};
  if (path.empty()) return false;
  if (path.size() == 1) return path[0] == "apiVersion" || path[0] == "kind";
  if (kTop.contains(path[0])) return true;
  if (path.size() == 2 && path[0] == "metadata" && kNames.contains(path[1])) return true;
  const std::string& above = path[path.size() - 2];
  if (kMaps.contains(above) || above == "command" || above == "args") return true;
  return path.size() >= 3 && path.back() == "value" && path[path.size() - 3] == "env";
}

class Filling {
 public:
  Filling(const TemplateFile& file, const json::value& values, Filled& filled)
      : file_(file), values_(values), filled_(filled) {
    lines_.push_back(0);
    for (size_t i = 0; i < file.text.size(); ++i) {
      if (file.text[i] == '\n') lines_.push_back(i + 1);
    }
  }

  void document(const Document& document) {
    marks_ = &document.marks;
    next_ = 0;
    path_.clear();
    const size_t faults = filled_.faults.size();
    const Mark mark = marks_->empty() ? Mark{1, 1} : marks_->front();
    json::value root = walk(document.root, "", false);
    if (document.root.is_null()) return;
    filled_.documents.push_back(
        {{file_.path, mark.line, mark.column}, std::move(root), filled_.faults.size() == faults});
  }

 private:
  json::value walk(const json::value& node, std::string_view key, bool is_member) {
    const Mark mark = next_ < marks_->size() ? (*marks_)[next_] : Mark{1, 1};
    ++next_;
    if (const json::object* object = node.if_object()) {
      json::object made;
      for (const auto& member : *object) {
        path_.emplace_back(member.key());
        made.emplace(member.key(), walk(member.value(), member.key(), true));
        path_.pop_back();
      }
      return made;
    }
    if (const json::array* array = node.if_array()) {
      json::array made;
      for (const json::value& element : *array) {
        path_.push_back(std::to_string(made.size()));
        made.push_back(walk(element, "", false));
        path_.pop_back();
      }
      return made;
    }
    if (!node.is_string()) return node;
    return scalar(std::string_view(node.get_string()), mark, key, is_member);
  }

  json::value scalar(std::string_view text, Mark mark, std::string_view key, bool is_member) {
    if (text.find("${") == std::string_view::npos) return json::value(text);
    const size_t from = offset_of(mark);
    Pieces pieces = take_apart(text);
    if (!pieces.fault.empty()) {
      fault(from, pieces.fault_at, pieces.fault);
      return json::value(text);
    }
    const bool whole = pieces.all.size() == 1 && pieces.all[0].is_placeholder;
    const bool as_string = !whole || wants_string(path_) || !is_plain(from, key, is_member);
    if (!as_string) return value_of(pieces.all[0], from, false);
    std::string made;
    for (const Piece& piece : pieces.all) {
      made += piece.is_placeholder ? text_of(value_of(piece, from, true)) : piece.literal;
    }
    return json::value(made);
  }

  // What stands in place of the placeholder; a fault is noted and null comes back.
  json::value value_of(const Piece& piece, size_t from, bool for_text) {
    auto refuse = [&](const std::string& why) {
      fault(from, piece.source, why);
      return json::value();
    };
    const std::string name = "placeholder `" + piece.path + "`";
    const json::value* found = look_up(values_, piece.path);
    json::value value;
    if (found != nullptr) {
      value = *found;
      if (const json::object* object = found->if_object()) {
        if (const json::value* secret = object->if_contains("$secret")) {
          value = *secret;
          filled_.secrets.insert(text_of(*secret));
        }
      }
    } else if (!piece.otherwise) {
      return refuse("missing value for " + name);
    } else if (piece.type == "json") {
      auto parsed = parse_json_value(*piece.otherwise);
      if (!parsed) return refuse("the default of " + name + " is no JSON");
      value = *std::move(parsed);
    } else {
      const auto number = integer_in(*piece.otherwise);
      value = number && !for_text && piece.type.empty() ? json::value(*number) : json::value(*piece.otherwise);
    }
    if (piece.type == "int") {
      if (value.is_int64() || value.is_uint64()) return value;
      const auto number = value.is_string() ? integer_in(value.get_string()) : std::nullopt;
      return number ? json::value(*number) : refuse(name + " is to be an integer, and is " + kind_of(value));
    }
    if (piece.type == "bool") {
      if (value.is_bool()) return value;
      if (value.is_string() && (value.get_string() == "true" || value.get_string() == "false")) {
        return value.get_string() == "true";
      }
      return refuse(name + " is to be true or false, and is " + kind_of(value));
    }
    if (piece.type == "json") return for_text ? json::value(write(value)) : value;
    if (value.is_object() || value.is_array()) {
      return refuse(name + " is " + kind_of(value) + "; to have it as it is, write ${" + piece.path + "|json}");
    }
    return piece.type == "string" ? json::value(text_of(value)) : value;
  }

  static std::string kind_of(const json::value& value) {
    switch (value.kind()) {
      case json::kind::object:
        return "a map";
      case json::kind::array:
        return "a list";
      case json::kind::string:
        return "a text";
      case json::kind::bool_:
        return "true or false";
      case json::kind::null:
        return "null";
      default:
        return "a number";
    }
  }

  // Whether the scalar at this place is written without quotes and not as a block.
  bool is_plain(size_t at, std::string_view key, bool is_member) const {
    const std::string& text = file_.text;
    if (is_member) {
      if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
        const char quote = text[at];
        for (++at; at < text.size() && text[at] != quote; ++at) {
          if (quote == '"' && text[at] == '\\') ++at;
        }
        ++at;
      } else {
        at += key.size();
      }
      while (at < text.size() && text[at] != ':') ++at;
      ++at;
    }
    while (at < text.size()) {
      if (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r') {
        ++at;
      } else if (text[at] == '#') {
        while (at < text.size() && text[at] != '\n') ++at;
      } else if (text[at] == '&' || text[at] == '!') {
        while (at < text.size() && text[at] != ' ' && text[at] != '\n') ++at;
      } else {
        break;
      }
    }
    // What came by an alias is a string, too: how it was written cannot be seen here.
    return at < text.size() && std::string_view("\"'|>*").find(text[at]) == std::string_view::npos;
  }

  size_t offset_of(Mark mark) const {
    size_t at = mark.line >= 1 && mark.line <= lines_.size() ? lines_[mark.line - 1] : 0;
    for (uint32_t column = 1; column < mark.column && at < file_.text.size(); ++column) {
      for (++at; at < file_.text.size() && (static_cast<uint8_t>(file_.text[at]) & 0xc0) == 0x80;) ++at;
    }
    return at;
  }

  // At the text of the placeholder, if it stands there as it is; else where its scalar begins.
  void fault(size_t from, std::string_view what, const std::string& message) {
    const size_t found = file_.text.find(what, from);
    const size_t at = found == std::string::npos ? from : found;
    const auto line = std::ranges::upper_bound(lines_, at) - lines_.begin();
    uint32_t column = 1;
    for (size_t i = lines_[static_cast<size_t>(line - 1)]; i < at; ++i) {
      if ((static_cast<uint8_t>(file_.text[i]) & 0xc0) != 0x80) ++column;
    }
    filled_.faults.push_back({{file_.path, static_cast<uint32_t>(line), column}, message});
  }

  const TemplateFile& file_;
  const json::value& values_;
  Filled& filled_;
  std::vector<size_t> lines_;  // where each begins
  const std::vector<Mark>* marks_ = nullptr;
  size_t next_ = 0;
  std::vector<std::string> path_;
};

}  // namespace

std::string to_string(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& each : faults) {
    text += (text.empty() ? "" : "\n") + to_string(each.position) + ": " + each.message;
  }
  return text;
}

Filled fill(const std::vector<TemplateFile>& files, const json::value& values) {
  Filled filled;
  for (const TemplateFile& file : files) {
    auto documents = parse_yaml_stream(file.text, file.path);
    if (!documents) {
      const Error& error = documents.error();
      filled.faults.push_back({error.position.value_or(Position{file.path, 1, 1}), error.message});
      continue;
    }
    Filling filling(file, values, filled);
    for (const Document& each : *documents) filling.document(each);
  }
  return filled;
}

}  // namespace sluice::rendering
