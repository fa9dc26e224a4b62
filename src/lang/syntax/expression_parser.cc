// Recursive descent over values and conditions; depth is bounded by Cursor::Nested.
#include "lang/syntax/expression_parser.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>

namespace sluice::lang {
namespace {

using Op = Expr::Op;

// Words that cannot name a value, so that conditions may follow each other without a separator.
constexpr std::array<std::string_view, 10> kReserved = {"and",    "or",     "not",   "in",   "where",
                                                        "forall", "exists", "after", "then", "given"};

Expr make(const At& at, Op op) {
  Expr expr;
  expr.at = at;
  expr.op = op;
  return expr;
}

Expr make_literal(const Token& at, json::value value) {
  Expr expr = make(at.at, Op::literal);
  expr.value = std::move(value);
  return expr;
}

// `a.b.c` as a tree of paths.
Expr make_path(const At& at, std::string_view dotted) {
  size_t dot = dotted.rfind('.');
  Expr expr = make(at, dot == std::string_view::npos ? Op::variable : Op::path);
  if (dot == std::string_view::npos) {
    expr.name = dotted;
  } else {
    expr.args.push_back(make_path(at, dotted.substr(0, dot)));
    expr.name = dotted.substr(dot + 1);
  }
  return expr;
}

Expr parse_string(Cursor& cursor, Dialect dialect) {
  Token token = cursor.take();
  if (dialect != Dialect::sync && dialect != Dialect::field) return make_literal(token, json::string(token.text));
  auto split = split_template(token);
  if (!split) {
    cursor.fail(token, "a malformed {{…}} in a string", "write {{name}} or {{name.field}}; two plain braces are \\{{");
    return {};
  }
  if (split->holes.empty()) return make_literal(token, json::string(token.text));
  Expr expr = make(token.at, Op::text);
  expr.parts = std::move(split->parts);
  for (const Template::Hole& hole : split->holes) {
    if (std::ranges::count(hole.name, '.') >= kMaxDepth) {
      cursor.fail(token, "nested more than " + std::to_string(kMaxDepth) + " deep", "take it apart", "nesting");
      return {};
    }
    At at = token.at;
    at.column += hole.column;
    expr.args.push_back(make_path(at, hole.name));
  }
  return expr;
}

Expr parse_path(Cursor& cursor, Expr expr) {
  int fields = 0;
  while (cursor.at(".")) {
    if (++fields > kMaxDepth) {
      cursor.fail(cursor.peek(), "nested more than " + std::to_string(kMaxDepth) + " deep", "take it apart", "nesting");
    }
    Token dot = cursor.take();
    Expr path = make(dot.at, Op::path);
    path.at = expr.at;
    path.name = cursor.expect_name("a field's name after `.`").text;
    path.args.push_back(std::move(expr));
    expr = std::move(path);
  }
  return expr;
}

bool at_key(Cursor& cursor) { return (cursor.at_word() || cursor.at(Token::Kind::string)) && cursor.after().is(":"); }

// The items of a record up to `close`, which is taken.
void parse_record_items(Cursor& cursor, Dialect dialect, std::string_view close, Expr& record) {
  record.op = Op::record;
  cursor.skip_separators();
  while (!cursor.at(close) && !cursor.ended()) {
    if (dialect == Dialect::sync && cursor.at(Token::Kind::variable)) {
      Token variable = cursor.take();
      record.keys.push_back(variable.text);
      record.args.push_back(make_path(variable.at, variable.text));
    } else if (at_key(cursor)) {
      record.keys.push_back(cursor.take().text);
      cursor.expect(":", "after a key");
      record.args.push_back(parse_value(cursor, dialect));
    } else {
      cursor.fail_here("`key: value` or `" + std::string(close) + "`");
    }
    cursor.skip_separators();
  }
  cursor.expect(close, "after a record");
}

void parse_list_items(Cursor& cursor, Dialect dialect, std::string_view close, Expr& list) {
  list.op = Op::list;
  cursor.skip_separators();
  while (!cursor.at(close) && !cursor.ended()) {
    list.args.push_back(parse_value(cursor, dialect));
    cursor.skip_separators();
  }
  cursor.expect(close, "after a list");
}

Expr parse_word(Cursor& cursor, Dialect dialect) {
  Token word = cursor.take();
  if (word.text == "true" || word.text == "false") return make_literal(word, word.text == "true");
  if (word.text == "null" || word.text == "none") return make_literal(word, nullptr);
  if (word.text == "_") return make(word.at, Op::wildcard);
  if (dialect != Dialect::fixture && cursor.at("(") && word.touches(cursor.peek())) {
    cursor.take();
    Expr call = make(word.at, Op::call);
    call.name = word.text;
    cursor.skip_separators();
    while (!cursor.at(")") && !cursor.ended()) {
      call.args.push_back(parse_condition(cursor, dialect));
      cursor.skip_separators();
    }
    cursor.expect(")", "after the arguments of " + word.text);
    return call;
  }
  bool bare = dialect == Dialect::invariant || dialect == Dialect::field;
  if (bare && std::ranges::find(kReserved, word.text) != kReserved.end()) {
    cursor.fail(word, "expected a value, found `" + word.text + "`", "write a value here");
  } else if (dialect == Dialect::sync) {
    cursor.fail(word, "`" + word.text + "` is not a value",
                "write `?" + word.text + "` for a variable or \"" + word.text + "\" for text");
  } else if (dialect == Dialect::fixture) {
    cursor.fail(word, "`" + word.text + "` is not a value", "write \"" + word.text + "\" for text");
  }
  return parse_path(cursor, make_path(word.at, word.text));
}

// Counts as two levels more, those of the parentheses that the formatter may put around it.
Expr parse_quantified(Cursor& cursor, Dialect dialect) {
  Cursor::Nested parentheses(cursor);
  Cursor::Nested condition(cursor);
  Token word = cursor.take();
  Expr expr = make(word.at, word.text == "forall" ? Op::forall : Op::exists);
  expr.name = dialect == Dialect::sync ? cursor.expect_variable("a variable after `" + word.text + "`").text
                                       : cursor.expect_name("a variable after `" + word.text + "`").text;
  cursor.expect("in", "after the variable");
  expr.args.push_back(parse_value(cursor, dialect));
  if (cursor.accept("where")) expr.args.push_back(parse_condition(cursor, dialect));
  cursor.expect(":", "before what must hold");
  expr.args.push_back(parse_condition(cursor, dialect));
  return expr;
}

Expr parse_comparison(Cursor& cursor, Dialect dialect) {
  struct Operator {
    std::string_view spelling;
    Op op;
  };
  constexpr Operator kOperators[] = {{"=", Op::equal},       {"!=", Op::not_equal}, {"<", Op::less},
                                     {"<=", Op::less_equal}, {">", Op::greater},    {">=", Op::greater_equal},
                                     {"in", Op::in},         {"not", Op::not_in}};
  Expr left = parse_value(cursor, dialect);
  for (const auto& [spelling, op] : kOperators) {
    if (!cursor.at(spelling) || (op == Op::not_in && !cursor.after().is("in"))) continue;
    Token sign = cursor.take();
    if (op == Op::not_in) cursor.take();
    Expr expr = make(sign.at, op);
    expr.at = left.at;
    expr.args.push_back(std::move(left));
    expr.args.push_back(parse_value(cursor, dialect));
    return expr;
  }
  return left;
}

// One or more operands joined by `word`.
Expr parse_joined(Cursor& cursor, Dialect dialect, std::string_view word, Op op, Expr (*operand)(Cursor&, Dialect)) {
  Expr first = operand(cursor, dialect);
  if (!cursor.at(word)) return first;
  Expr expr = make(cursor.peek().at, op);
  expr.at = first.at;
  expr.args.push_back(std::move(first));
  while (cursor.accept(word)) expr.args.push_back(operand(cursor, dialect));
  return expr;
}

Expr parse_both(Cursor& cursor, Dialect dialect) {
  return parse_joined(cursor, dialect, "and", Op::all, parse_plain_condition);
}

}  // namespace

Expr parse_condition(Cursor& cursor, Dialect dialect) {
  Cursor::Nested nested(cursor);
  return parse_joined(cursor, dialect, "or", Op::any, parse_both);
}

Expr parse_plain_condition(Cursor& cursor, Dialect dialect) {
  Cursor::Nested nested(cursor);
  if (cursor.at("not")) {
    Token word = cursor.take();
    Expr expr = make(word.at, Op::negation);
    expr.args.push_back(parse_plain_condition(cursor, dialect));
    return expr;
  }
  if (cursor.at("forall") || cursor.at("exists")) return parse_quantified(cursor, dialect);
  return parse_comparison(cursor, dialect);
}

Expr parse_value(Cursor& cursor, Dialect dialect) {
  Cursor::Nested nested(cursor);
  const Token here = cursor.peek();
  switch (here.kind) {
    case Token::Kind::string:
      return parse_string(cursor, dialect);
    case Token::Kind::integer:
    case Token::Kind::floating:
      cursor.take();
      return make_literal(here, here.value);
    case Token::Kind::variable:
      if (dialect != Dialect::sync) {
        cursor.fail(here, "`?" + here.text + "` stands for a variable of a sync", "write `" + here.text + "`");
        return {};
      }
      cursor.take();
      return parse_path(cursor, make_path(here.at, here.text));
    case Token::Kind::identifier:
      return parse_word(cursor, dialect);
    default:
      break;
  }
  Expr expr = make(here.at, Op::list);
  if (cursor.accept("[")) {
    if (at_key(cursor)) {
      parse_record_items(cursor, dialect, "]", expr);
    } else {
      parse_list_items(cursor, dialect, "]", expr);
    }
  } else if (cursor.accept("{")) {
    cursor.skip_separators();
    bool record = cursor.at("}") || at_key(cursor) || (dialect == Dialect::sync && cursor.at(Token::Kind::variable));
    if (record) {
      parse_record_items(cursor, dialect, "}", expr);
    } else {
      parse_list_items(cursor, dialect, "}", expr);
    }
  } else if (dialect != Dialect::fixture && cursor.accept("(")) {
    expr = parse_condition(cursor, dialect);
    cursor.expect(")", "after the condition");
  } else if (dialect != Dialect::sync && cursor.accept("$")) {
    expr.op = Op::fixture;
    expr.name = cursor.expect_name("a fixture's name after `$`").text;
    cursor.expect(".", "after the fixture's name");
    expr.keys.push_back(cursor.expect_name("a field's name").text);
  } else {
    cursor.fail_here("a value");
  }
  return expr;
}

std::vector<Argument> parse_arguments(Cursor& cursor, Dialect dialect, std::string_view close) {
  std::vector<Argument> arguments;
  cursor.skip_separators();
  while (!cursor.at(close) && !cursor.ended()) {
    Argument argument;
    Name name = cursor.expect_name("a field's name or `" + std::string(close) + "`");
    argument.at = name.at;
    argument.name = name.text;
    cursor.expect(":", "after the field's name");
    argument.value = parse_value(cursor, dialect);
    arguments.push_back(std::move(argument));
    cursor.skip_separators();
  }
  cursor.expect(close, "");
  return arguments;
}

}  // namespace sluice::lang
