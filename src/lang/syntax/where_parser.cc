// A line is told by its first words; nothing is read twice.
#include "lang/syntax/where_parser.h"

#include "lang/syntax/expression_parser.h"
#include "lang/syntax/pattern_parser.h"

namespace sluice::lang {
namespace {

bool at_action_form(Cursor& cursor) {
  if (cursor.at(Token::Kind::variable)) return true;
  if (!cursor.at_word()) return false;
  Token after = cursor.after();
  // `A.b/c` and not `A.b: {`: one dot can be looked past.
  return after.is("/") || (after.is(".") && cursor.third().is("/"));
}

// `?n > 3` where a line is wanted.
void refuse_bare_condition(Cursor& cursor) {
  Token here = cursor.peek(), sign = cursor.after();
  bool compares = sign.is("=") || sign.is("!=") || sign.is("<") || sign.is("<=") || sign.is(">") || sign.is(">=") ||
                  sign.is("in") || sign.is("not");
  if (here.kind != Token::Kind::variable || !compares) return;
  std::string value(sign.is("not") ? "…" : cursor.second().raw);
  cursor.fail(here, "a condition stands in `filter(…)`",
              "write `filter(?" + here.text + " " + std::string(sign.raw) + " " + value + ")`");
}

void open_call(Cursor& cursor) {
  cursor.take();
  cursor.take();
  cursor.skip_separators();
}

Condition parse_condition_line(Cursor& cursor) {
  using Kind = Condition::Kind;
  Condition condition;
  Token word = cursor.peek();
  condition.at = word.at;
  bool call = cursor.at_word() && cursor.after().is("(");
  if (call && (word.is("filter") || word.is("guard"))) {
    condition.kind = Kind::filter;
    open_call(cursor);
    condition.exprs.push_back(parse_condition(cursor, Dialect::sync));
  } else if (call && word.is("any")) {
    condition.kind = Kind::any;
    open_call(cursor);
    while (!cursor.at(")") && !cursor.ended()) {
      condition.exprs.push_back(parse_condition(cursor, Dialect::sync));
      cursor.skip_separators();
    }
    if (condition.exprs.empty()) cursor.fail_here("a condition");
  } else if (call && word.is("bind")) {
    condition.kind = Kind::bind;
    open_call(cursor);
    condition.exprs.push_back(parse_value(cursor, Dialect::sync));
    cursor.expect("as", "after the value");
    condition.name = cursor.expect_variable("a variable after `as`").text;
  } else if (call && word.is("each")) {
    condition.kind = Kind::each;
    open_call(cursor);
    condition.exprs.push_back(parse_value(cursor, Dialect::sync));
    cursor.expect("as", "after the list");
    cursor.expect("{", "before the fields of an element");
    condition.fields = parse_field_patterns(cursor, "}", true);
  } else if (call) {
    cursor.fail(word, "unknown condition `" + word.text + "(…)`",
                "conditions are filter(…), guard(…), any(…), bind(… as ?x), each(… as { … }) and queries");
  } else {
    condition.kind = cursor.at("no") && !cursor.after().is(":") ? Kind::no : Kind::query;
    if (condition.kind == Kind::no) cursor.take();
    condition.query = parse_query(cursor);
    return condition;
  }
  cursor.expect(")", "to close `" + word.text + "(`");
  return condition;
}

}  // namespace

std::vector<Condition> parse_where(Cursor& cursor, std::vector<Pattern>* when) {
  std::vector<Condition> where;
  cursor.take();
  cursor.expect("{", "after `where`");
  cursor.skip_separators();
  while (!cursor.at("}") && !cursor.ended()) {
    refuse_bare_condition(cursor);
    if (at_action_form(cursor)) {
      Pattern pattern;
      pattern.at = cursor.peek().at;
      pattern.link = Pattern::Link::latest;
      if (when == nullptr) {
        cursor.fail_here("a query", "a guard sees state and arguments, not what happened");
      }
      parse_pattern(cursor, pattern);
      if (when != nullptr) when->push_back(std::move(pattern));
    } else {
      refuse_for_each(cursor);
      where.push_back(parse_condition_line(cursor));
    }
    cursor.skip_separators();
  }
  cursor.expect("}", "to close `where`");
  return where;
}

void parse_require(Cursor& cursor, std::vector<Condition>& require) {
  cursor.expect("{", "after `require`");
  cursor.skip_separators();
  if (cursor.at("}")) cursor.fail_here("what must hold");
  while (!cursor.at("}") && !cursor.ended()) {
    Token here = cursor.peek();
    Condition condition = parse_condition_line(cursor);
    if (condition.kind == Condition::Kind::bind || condition.kind == Condition::Kind::each) {
      cursor.fail(here, "`" + here.text + "` selects; `require` only says what must hold", "write it in `where`");
    }
    require.push_back(std::move(condition));
    cursor.skip_separators();
  }
  cursor.expect("}", "to close `require`");
}

Query parse_query(Cursor& cursor) {
  Query query;
  query.at = cursor.peek().at;
  query.concept_ = cursor.expect_name("a concept's name");
  if (cursor.accept(".")) query.relation = cursor.expect_name("a list or set field after `.`");
  cursor.expect(":", "after the relation");
  cursor.expect("{", "before the fields");
  cursor.skip_separators();
  if (cursor.at(Token::Kind::variable)) query.key = cursor.expect_variable("the key");
  query.fields = parse_field_patterns(cursor, "}", true);
  return query;
}

void refuse_for_each(Cursor& cursor) {
  if (cursor.at("for") && cursor.after().is("each")) {
    cursor.fail(cursor.peek(), "`for each` is not part of the language",
                "write `each(?list as { field: ?v })` in `where`: `then` runs once for each row", "for-each");
  }
}

}  // namespace sluice::lang
