// libpg_query gives the tree as JSON. Its stack grows with the depth of the tree, and a bundle may hold any text, so
// what could be nested too deeply is refused before it is parsed.
#include "migrate/parse_tree.h"

#include <pg_query.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <memory>
#include <vector>

#include "migrate/sql_text.h"

// The tree is read as JSON. That it could be had as a message of protobuf, too, would be half a megabyte of the
// program.
extern "C" PgQueryProtobuf pg_query_nodes_to_protobuf(const void*) { return {.len = 0, .data = nullptr}; }

namespace sluice::migrate {
namespace {

constexpr size_t kMaxNesting = 5'000;  // tokens that may stand within each other
constexpr size_t kMaxDepth = 8 * kMaxNesting;

const json::value kNothing;
const json::array kNoItems;

// At most how deep the tree is: what follows a comma starts again from what the comma stands in.
bool is_too_deep(const std::vector<std::string>& tokens) {
  std::vector<size_t> open(1, 0);
  size_t depth = 0;
  for (const std::string& token : tokens) {
    if (token == ",") {
      depth -= open.back();
      open.back() = 0;
    } else if (token == ")" && open.size() > 1) {
      depth -= open.back();
      open.pop_back();
    } else {
      ++open.back();
      if (++depth > kMaxNesting) return true;
      if (token == "(") open.push_back(0);
    }
  }
  return false;
}

// The place of a character that is counted from 1.
Position position_of(const std::string& text, int character) {
  Position place{.line = 1, .column = 1};
  int at = 1;
  for (const char c : text) {
    const bool begins_character = (static_cast<unsigned char>(c) & 0xc0) != 0x80;
    if (begins_character && at++ >= character) break;
    if (c == '\n') {
      ++place.line;
      place.column = 1;
    } else if (begins_character) {
      ++place.column;
    }
  }
  return place;
}

Error unparsed(std::string message, const std::string& text, int character) {
  return {.code = Code::invalid, .message = std::move(message), .position = position_of(text, character)};
}

}  // namespace

const json::value& field_of(const json::value& node, std::string_view name) {
  const json::object* fields = node.if_object();
  const json::value* found = fields == nullptr ? nullptr : fields->if_contains(name);
  return found == nullptr ? kNothing : *found;
}

std::string_view text_in(const json::value& node, std::string_view name) {
  const json::string* text = field_of(node, name).if_string();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

bool is_set(const json::value& node, std::string_view name) {
  const bool* set = field_of(node, name).if_bool();
  return set != nullptr && *set;
}

const json::array& items_in(const json::value& node, std::string_view name) {
  const json::array* items = field_of(node, name).if_array();
  return items == nullptr ? kNoItems : *items;
}

Result<ParseTree> parse_postgres(const std::string& statement) {
  auto cut = split_statements(Engine::postgres, statement, "statement");
  if (!cut) return cut.error();
  for (const Statement& each : *cut) {
    if (is_too_deep(each.tokens)) return unparsed("it is nested too deeply to be looked at", statement, 1);
  }
  const std::unique_ptr<PgQueryParseResult, void (*)(PgQueryParseResult*)> parsed(
      new PgQueryParseResult(pg_query_parse(statement.c_str())), [](PgQueryParseResult* result) {
        pg_query_free_parse_result(*result);
        delete result;
      });
  if (parsed->error != nullptr) return unparsed(parsed->error->message, statement, parsed->error->cursorpos);
  boost::system::error_code failure;
  json::parse_options options;
  options.max_depth = kMaxDepth;
  const json::value document = json::parse(parsed->parse_tree, failure, {}, options);
  const json::array& all = items_in(document, "stmts");
  if (failure || all.size() != 1) return unparsed("it is no statement", statement, 1);
  const json::value& node = field_of(all.front(), "stmt");
  return ParseTree{.kind = std::string(kind_of(node)), .node = fields_of(node)};
}

std::string_view kind_of(const json::value& node) {
  const json::object* object = node.if_object();
  return object == nullptr || object->empty() ? std::string_view() : std::string_view(object->begin()->key());
}

const json::value& fields_of(const json::value& node) {
  const json::object* object = node.if_object();
  return object == nullptr || object->empty() ? kNothing : object->begin()->value();
}

ParseTree statement_in(const json::value& node, std::string_view name) {
  const json::value& held = field_of(node, name);
  return {.kind = std::string(kind_of(held)), .node = fields_of(held)};
}

std::string table_of(const json::value& relation) {
  const std::string_view schema = text_in(relation, "schemaname");
  return std::string(schema.empty() ? "public" : schema) + "." + std::string(text_in(relation, "relname"));
}

std::string table_of(const json::array& parts, size_t count) {
  auto part = [&](size_t at) { return std::string(text_in(fields_of(parts[at]), "sval")); };
  if (count == 0 || count > parts.size()) return "";
  return (count == 1 ? "public" : part(count - 2)) + "." + part(count - 1);
}

}  // namespace sluice::migrate
