// Parsing is Boost.JSON's basic_parser with a handler that builds the tree itself, because Boost's own takes the last
// of two equal keys in silence. Positions come from a second, much simpler scan over text that is known to be valid.
#include "base/json.h"

#include <array>
#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/json_place.h"
#include "base/json_text.h"

namespace sluice {
namespace {

// Whether the digits of an integer are just those with which a double is written in canonical JSON.
bool is_canonical(json::string_view digits) {
  double number = 0;
  auto done = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (done.ec != std::errc()) return false;
  TextBuffer out;
  append_json_number(out, number);
  return out.view() == view(digits);
}

// Builds the tree. A false return stops the parser; `problem` then says why.
class TreeBuilder {
 public:
  // Bounds that basic_parser checks; the size of the text bounds all of them.
  static constexpr size_t max_object_size = size_t{1} << 31;
  static constexpr size_t max_array_size = size_t{1} << 31;
  static constexpr size_t max_key_size = size_t{1} << 31;
  static constexpr size_t max_string_size = size_t{1} << 31;

  json::value root;
  size_t max_nodes = 0;

  std::optional<Error> problem;  // without a position, which is where the parser stopped unless these say otherwise:
  bool at_key = false;           // that of the last key
  const char* token = nullptr;   // where the token begins

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_object_begin(json::error_code& failure) { return begin(json::value(json::object_kind), failure); }
  bool on_object_end(size_t, json::error_code&) { return end(); }
  bool on_array_begin(json::error_code& failure) { return begin(json::value(json::array_kind), failure); }
  bool on_array_end(size_t, json::error_code&) { return end(); }

  bool on_key_part(json::string_view part, size_t, json::error_code&) {
    partial_ += view(part);
    return true;
  }
  bool on_key(json::string_view part, size_t, json::error_code& failure) {
    std::string& key = open_.back().key;
    std::swap(key, partial_);
    partial_.clear();
    key += view(part);
    if (!open_.back().container->get_object().contains(key)) return true;
    fail("duplicate key " + json_quoted(key), "remove one of the two", failure);
    at_key = true;
    return false;
  }
  bool on_string_part(json::string_view part, size_t, json::error_code&) {
    partial_ += view(part);
    return true;
  }
  bool on_string(json::string_view part, size_t, json::error_code& failure) {
    if (partial_.empty()) return add(json::value(part), failure);
    partial_ += view(part);
    bool added = add(json::value(partial_), failure);
    partial_.clear();
    return added;
  }
  // The whole text is given at once, so a number always comes in one part.
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(int64_t number, json::string_view, json::error_code& failure) {
    return add(json::value(number), failure);
  }
  bool on_uint64(uint64_t number, json::string_view, json::error_code& failure) {
    return add(json::value(number), failure);
  }
  // Boost 1.81 may be wrong in a double's last bit, so the digits are read again.
  bool on_double(double estimate, json::string_view text, json::error_code& failure) {
    if (text.find_first_of(".eE") == json::string_view::npos && !is_canonical(text)) {
      return refuse("the integer does not fit into 64 bits", "write it as a string to keep its digits", text, failure);
    }
    double number = 0;
    auto done = std::from_chars(text.data(), text.data() + text.size(), number);
    if (done.ec == std::errc::result_out_of_range) {
      if (std::abs(estimate) > 1) {
        return refuse("the number is too large", "the largest is about 1.8e308", text, failure);
      }
      number = std::copysign(0.0, estimate);
    }
    return add(json::value(number), failure);
  }
  bool on_bool(bool truth, json::error_code& failure) { return add(json::value(truth), failure); }
  bool on_null(json::error_code& failure) { return add(json::value(nullptr), failure); }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  // A container that is not yet closed. It does not move: nothing is added to its parent meanwhile.
  struct Open {
    json::value* container;
    std::string key;  // of the member that is being read, in an object
  };

  bool add(json::value value, json::error_code& failure) {
    if (++nodes_ > max_nodes) {
      fail("the JSON text has more than " + std::to_string(max_nodes) + " values", "split it", failure);
      problem->code = Code::limit;
      return false;
    }
    if (open_.empty()) {
      last_ = &(root = std::move(value));
    } else if (json::value& parent = *open_.back().container; auto* array = parent.if_array()) {
      last_ = &array->emplace_back(std::move(value));
    } else {
      last_ = &parent.get_object().emplace(open_.back().key, std::move(value)).first->value();
    }
    return true;
  }

  bool begin(json::value container, json::error_code& failure) {
    if (!add(std::move(container), failure)) return false;
    open_.push_back({.container = last_, .key = {}});
    return true;
  }

  bool end() {
    open_.pop_back();
    return true;
  }

  bool fail(std::string message, std::string next, json::error_code& failure) {
    problem = Error{.code = Code::invalid, .message = std::move(message), .next = std::move(next), .path = pointer()};
    failure = json::error::exception;
    return false;
  }

  // Fails at a number, whose text is a part of the text that is parsed.
  bool refuse(std::string message, std::string next, json::string_view number, json::error_code& failure) {
    fail(std::move(message), std::move(next), failure);
    token = number.data();
    return false;
  }

  // Of the value that comes next. It is not in its container yet; every container but the root is in its own.
  std::string pointer() const {
    std::string text;
    for (const Open& open : open_) {
      const auto* array = open.container->if_array();
      if (array == nullptr) {
        append_pointer_token(text, open.key);
      } else {
        append_pointer_token(text, std::to_string(&open == &open_.back() ? array->size() : array->size() - 1));
      }
    }
    return text;
  }

  std::vector<Open> open_;
  json::value* last_ = nullptr;  // the value added last, where it stands
  size_t nodes_ = 0;
  std::string partial_;
};

bool begins_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }

// Moves a mark past text, counting code points.
void advance(Mark& mark, std::string_view text) {
  for (char c : text) {
    if (c == '\n') {
      ++mark.line;
      mark.column = 1;
    } else {
      mark.column += begins_code_point(c) ? 1 : 0;
    }
  }
}

// The size of the string token (quotes included) that the text begins with; all of it if the string does not end.
size_t string_token_size(std::string_view text) {
  size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

// One mark a node in pre-order, for text that is the valid beginning of a JSON document. A member's value has the mark
// of its key.
std::vector<Mark> mark_nodes(std::string_view text) {
  std::vector<Mark> marks;
  std::vector<bool> in_object;  // for each open container
  bool expects_key = false;
  bool keyed = false;  // the next value's mark has been set by its key
  Mark here{1, 1};
  auto node = [&] {
    if (!keyed) marks.push_back(here);
    keyed = false;
  };
  while (!text.empty()) {
    size_t size = 1;
    switch (text.front()) {
      case '{':
      case '[':
        node();
        in_object.push_back(text.front() == '{');
        expects_key = in_object.back();
        break;
      case '}':
      case ']':
        in_object.pop_back();
        expects_key = false;
        break;
      case ',':
        expects_key = in_object.back();
        break;
      case '"':
        size = string_token_size(text);
        node();
        keyed = expects_key;
        expects_key = false;
        break;
      case ':':
      case ' ':
      case '\t':
      case '\r':
      case '\n':
        break;
      default:  // a number or a word
        size = std::min(text.find_first_of(",]} \t\r\n"), text.size());
        node();
    }
    advance(here, text.substr(0, size));
    text.remove_prefix(size);
  }
  return marks;
}

// What the parser found, as an error about the place where it stopped.
Error error_of(const json::error_code& failure, std::string_view rest, const JsonLimits& limits) {
  auto invalid = [](std::string message, std::string next = "") {
    return Error{.code = Code::invalid, .message = std::move(message), .next = std::move(next)};
  };
  if (failure == json::error::too_deep) {
    return Error{.code = Code::limit,
                 .message = "arrays and objects are nested deeper than " + std::to_string(limits.max_depth) + " levels",
                 .next = "nest less deeply"};
  }
  if (failure == json::error::extra_data) return invalid("unexpected text after the JSON value", "remove it");
  if (failure == json::error::exponent_overflow) return invalid("the number's exponent is too large");
  if (failure == json::error::illegal_leading_surrogate || failure == json::error::illegal_trailing_surrogate ||
      failure == json::error::expected_utf16_escape) {
    return invalid("a \\u escape is half of a surrogate pair", R"(write both halves, as in \ud83d\ude00)");
  }
  if (failure == json::error::expected_hex_digit) return invalid("a \\u escape needs four hexadecimal digits");
  if (failure == json::error::incomplete || rest.empty()) {
    return invalid("the JSON text ends too early", "look for what is not closed, or cut off");
  }
  auto c = static_cast<unsigned char>(rest.front());
  if (c >= 0x20 && c < 0x7F) return invalid(std::string("not valid JSON: unexpected '") + rest.front() + "'");
  std::array<char, 3> hex{};
  std::to_chars(hex.data(), hex.data() + 2, c, 16);
  return invalid(std::string("not valid JSON: unexpected byte 0x") + (c < 16 ? "0" : "") + hex.data(),
                 c >= 0x80 ? "save the text as UTF-8, without a byte order mark" : "");
}

Error placed(Error error, const std::string& file, Mark mark) {
  error.position = Position{.file = file, .line = mark.line, .column = mark.column};
  return error;
}

Result<json::value> parse_root(std::string_view text, const std::string& file, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return Error{.code = Code::limit,
                 .message = "the JSON text is larger than " + std::to_string(limits.max_bytes) + " bytes",
                 .next = "split it",
                 .position = Position{.file = file, .line = 1, .column = 1}};
  }
  json::parse_options options;
  options.max_depth = limits.max_depth;
  json::basic_parser<TreeBuilder> parser(options);
  TreeBuilder& builder = parser.handler();
  builder.max_nodes = limits.max_nodes;
  json::error_code failure;
  size_t parsed = parser.write_some(false, text.data(), text.size(), failure);
  if (!failure && parsed < text.size()) failure = json::error::extra_data;
  if (!failure) return std::move(builder.root);

  if (builder.token != nullptr) parsed = static_cast<size_t>(builder.token - text.data());
  Mark stopped{1, 1};
  advance(stopped, text.substr(0, parsed));
  if (!builder.problem) return placed(error_of(failure, text.substr(parsed), limits), file, stopped);
  if (builder.at_key) stopped = mark_nodes(text.substr(0, parsed)).back();
  return placed(*std::move(builder.problem), file, stopped);
}

}  // namespace

Result<Document> parse_json(std::string_view text, std::string file, JsonLimits limits) {
  auto root = parse_root(text, file, limits);
  if (!root) return root.error();
  return Document{.root = *std::move(root), .file = std::move(file), .marks = mark_nodes(text)};
}

Result<json::value> parse_json_value(std::string_view text, JsonLimits limits) { return parse_root(text, "", limits); }

namespace {

template <class Integer>
void append_integer(TextBuffer& out, Integer number) {
  constexpr size_t kLongest = 20;  // a sign and 19 digits, or 20 digits
  char* begin = out.room(kLongest);
  out.advance_to(std::to_chars(begin, begin + kLongest, number).ptr);
}

void append_double(TextBuffer& out, double number) {
  if (!std::isfinite(number)) {
    out.append("null");
    return;
  }
  size_t start = out.size();
  if (number == 0 && std::signbit(number)) out.append('-');
  append_json_number(out, number);
  // Without a mark of a fraction it would read back as an integer.
  if (out.view().find_first_of(".e", start) == std::string_view::npos) out.append(".0");
}

// Writes a value at a level of indentation, or compactly if the level is negative.
void append_value(TextBuffer& out, const json::value& value, int level) {
  bool pretty = level >= 0;
  int inner = pretty ? level + 1 : level;
  auto separate = [&](bool first, int indent) {
    if (!first) out.append(',');
    if (pretty) {
      out.append('\n');
      out.append(static_cast<size_t>(indent) * 2, ' ');
    }
  };
  switch (value.kind()) {
    case json::kind::null:
      out.append("null");
      break;
    case json::kind::bool_:
      out.append(value.get_bool() ? "true" : "false");
      break;
    case json::kind::int64:
      append_integer(out, value.get_int64());
      break;
    case json::kind::uint64:
      append_integer(out, value.get_uint64());
      break;
    case json::kind::double_:
      append_double(out, value.get_double());
      break;
    case json::kind::string:
      append_json_string(out, view(value.get_string()));
      break;
    case json::kind::array: {
      out.append('[');
      bool first = true;
      for (const json::value& element : value.get_array()) {
        separate(std::exchange(first, false), inner);
        append_value(out, element, inner);
      }
      if (pretty && !first) separate(true, level);
      out.append(']');
      break;
    }
    case json::kind::object: {
      out.append('{');
      bool first = true;
      for (const auto& member : value.get_object()) {
        separate(std::exchange(first, false), inner);
        append_json_string(out, view(member.key()));
        out.append(pretty ? ": " : ":");
        append_value(out, member.value(), inner);
      }
      if (pretty && !first) separate(true, level);
      out.append('}');
      break;
    }
  }
}

}  // namespace

void append_json_value(TextBuffer& out, const json::value& value) { append_value(out, value, -1); }

std::string write(const json::value& value) {
  TextBuffer out;
  append_json_value(out, value);
  return std::string(out.view());
}

std::string write_pretty(const json::value& value) {
  TextBuffer out;
  append_value(out, value, 0);
  out.append('\n');
  return std::string(out.view());
}

}  // namespace sluice
