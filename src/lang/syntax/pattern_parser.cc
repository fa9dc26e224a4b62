// Recursive descent; the depth of a match is bounded by Cursor::Nested.
#include "lang/syntax/pattern_parser.h"

#include <boost/json.hpp>

#include "lang/syntax/expression_parser.h"

namespace sluice::lang {
namespace {

// A literal, a variable, `_`, or `{ field: match … }`.
Expr parse_match(Cursor& cursor) {
  Cursor::Nested nested(cursor);
  Expr match;
  Token here = cursor.peek();
  match.at = here.at;
  if (here.kind == Token::Kind::string) {
    cursor.take();
    match.value = json::string(here.text);
    return match;
  }
  if (cursor.accept("{")) {
    match.op = Expr::Op::record;
    cursor.skip_separators();
    while (!cursor.at("}") && !cursor.ended()) {
      match.keys.push_back(cursor.expect_name("a field's name or `}`").text);
      cursor.expect(":", "after the field's name");
      match.args.push_back(parse_match(cursor));
      cursor.skip_separators();
    }
    cursor.expect("}", "to close the fields");
    return match;
  }
  if (here.is("[") || here.is("(") || here.is("$")) {
    cursor.fail_here("a variable, a literal, `_` or `{ … }`");
    return match;
  }
  match = parse_value(cursor, Dialect::sync);
  if (match.op == Expr::Op::variable) match.maybe = cursor.accept("?");
  if (match.op != Expr::Op::literal && match.op != Expr::Op::variable && match.op != Expr::Op::wildcard) {
    cursor.fail(here, "a pattern matches a variable, a literal, `_` or `{ … }`",
                "bind a variable here and compare it with filter(…) in `where`");
  }
  return match;
}

// `name`, or `{a, b}`.
void parse_alternatives(Cursor& cursor, Name& first, std::vector<Name>& others, std::string_view what) {
  if (!cursor.accept("{")) {
    first = cursor.expect_name(what);
    return;
  }
  cursor.skip_separators();
  first = cursor.expect_name(what);
  cursor.skip_separators();
  while (!cursor.at("}") && !cursor.ended() && !cursor.stopped()) {
    others.push_back(cursor.expect_name(what));
    cursor.skip_separators();
  }
  cursor.expect("}", "to close the alternatives");
}

// requested · engine.fault[…] · ok[…] · {ok, partial}[…] · ok(…) · ok · […] · [ok] · [ok(…)] · [ok; field: ?v]
void parse_outcome(Cursor& cursor, Pattern& pattern) {
  if (cursor.at("[")) {
    cursor.take();
    bool variant = cursor.at_word() && !cursor.after().is(":");
    pattern.outcome = variant ? Pattern::Outcome::variant : Pattern::Outcome::any;
    if (variant) pattern.variant = cursor.expect_name("a variant");
    if (variant && cursor.accept("(")) {
      pattern.output = parse_field_patterns(cursor, ")", false);
      cursor.expect("]", "after the variant");
    } else {
      pattern.output = parse_field_patterns(cursor, "]", false);
    }
    return;
  }
  if (cursor.accept("requested")) {
    pattern.outcome = Pattern::Outcome::requested;
    return;
  }
  pattern.outcome = Pattern::Outcome::variant;
  if (cursor.at("engine") && cursor.after().is(".")) {
    cursor.take();
    cursor.take();
    pattern.outcome = Pattern::Outcome::engine;
    parse_alternatives(cursor, pattern.variant, pattern.other_variants, "an engine outcome after `engine.`");
  } else {
    parse_alternatives(cursor, pattern.variant, pattern.other_variants,
                       "an outcome: a variant, `requested`, `engine.…` or `[ … ]`");
  }
  if (cursor.accept("[")) {
    pattern.output = parse_field_patterns(cursor, "]", false);
  } else if (cursor.accept("(")) {
    pattern.output = parse_field_patterns(cursor, ")", false);
  }
}

}  // namespace

void parse_when(Cursor& cursor, std::vector<Pattern>& when) {
  cursor.expect("{", "after `when`");
  cursor.skip_separators();
  if (cursor.at("}")) cursor.fail_here("a pattern");
  while (!cursor.at("}") && !cursor.ended()) {
    Pattern pattern;
    pattern.at = cursor.peek().at;
    if (cursor.at("caused") && cursor.after().is("by")) {
      cursor.take();
      cursor.take();
      pattern.link = Pattern::Link::caused_by;
    } else if (cursor.at("latest") && !cursor.after().is("/")) {
      cursor.take();
      pattern.link = Pattern::Link::latest;
    }
    if (when.empty() && pattern.link != Pattern::Link::plain) {
      cursor.fail_here("a plain pattern first", "`caused by` and `latest` speak of the pattern above them");
    }
    parse_pattern(cursor, pattern);
    when.push_back(std::move(pattern));
    cursor.skip_separators();
  }
  cursor.expect("}", "to close `when`");
}

void parse_pattern(Cursor& cursor, Pattern& pattern) {
  parse_pattern_input(cursor, pattern);
  cursor.expect("=>", "after the action's arguments");
  parse_outcome(cursor, pattern);
  if (cursor.accept("as")) pattern.as = cursor.expect_variable("a variable after `as`");
}

void parse_pattern_input(Cursor& cursor, Pattern& pattern) {
  pattern.concept_ = parse_concept_name(cursor);
  cursor.expect("/", "between concept and action");
  if (cursor.at(Token::Kind::variable)) {
    Token token = cursor.take();
    pattern.action = {token.at, "?" + token.text};
  } else {
    parse_alternatives(cursor, pattern.action, pattern.other_actions, "an action's name");
  }
  cursor.expect(":", "after the action's name");
  pattern.input = parse_bracketed_patterns(cursor, "the action");
}

void parse_target(Cursor& cursor, Name& concept_name, Name& action) {
  concept_name = parse_concept_name(cursor);
  cursor.expect("/", "between concept and action");
  action = cursor.expect_name("an action's name");
  cursor.expect(":", "after the action's name");
}

Name parse_concept_name(Cursor& cursor) {
  if (cursor.at(Token::Kind::variable)) {
    Token token = cursor.take();
    return {token.at, "?" + token.text};
  }
  Name name = cursor.expect_name("a concept's name");
  while (cursor.accept(".")) name.text += "." + cursor.expect_name("a name after `.`").text;
  return name;
}

std::vector<FieldPattern> parse_bracketed_patterns(Cursor& cursor, std::string_view after) {
  cursor.expect("[", "after " + std::string(after));
  return parse_field_patterns(cursor, "]", false);
}

std::vector<FieldPattern> parse_field_patterns(Cursor& cursor, std::string_view close, bool query) {
  std::vector<FieldPattern> fields;
  cursor.skip_separators();
  while (!cursor.at(close) && !cursor.ended()) {
    FieldPattern field;
    Name name = cursor.expect_name("a field's name or `" + std::string(close) + "`");
    while (query && cursor.accept(".")) name.text += "." + cursor.expect_name("a field's name after `.`").text;
    field.at = name.at;
    field.field = name.text;
    cursor.expect(":", "after the field's name");
    field.match = parse_match(cursor);
    if (query && cursor.accept("as")) field.as = cursor.expect_variable("a variable after `as`");
    fields.push_back(std::move(field));
    cursor.skip_separators();
  }
  cursor.expect(close, "");
  return fields;
}

}  // namespace sluice::lang
