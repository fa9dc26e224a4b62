// Types, by recursive descent; depth is bounded by Cursor::Nested.
#include "lang/syntax/type_parser.h"

namespace sluice::lang {
namespace {

Type parse_braces(Cursor& cursor) {
  Type type;
  type.at = cursor.take().at;
  cursor.skip_separators();
  if (cursor.at_word() && cursor.after().is(":")) {
    type.kind = Type::Kind::record;
    type.fields = parse_fields(cursor, "}");
    return type;
  }
  type.kind = Type::Kind::names;
  do {
    type.literals.push_back(cursor.expect_name("a field or a name").text);
  } while (cursor.accept("|"));
  cursor.expect("}", "after the names");
  return type;
}

Type parse_atom(Cursor& cursor) {
  Cursor::Nested nested(cursor);
  Token here = cursor.peek();
  Type type;
  type.at = here.at;
  if (here.kind == Token::Kind::string) {
    type.kind = Type::Kind::literals;
    do {
      type.literals.push_back(cursor.expect_string("a string after `|`"));
    } while (cursor.accept("|"));
    return type;
  }
  if (here.is("{")) return parse_braces(cursor);
  if (here.kind != Token::Kind::identifier) {
    cursor.fail_here("a type");
    return type;
  }
  cursor.take();
  if (here.text == "set" || here.text == "list" || here.text == "option") {
    type.kind = here.text == "set" ? Type::Kind::set : here.text == "list" ? Type::Kind::list : Type::Kind::option;
    type.inner.push_back(parse_atom(cursor));
    return type;
  }
  type.kind = is_primitive(here.text) ? Type::Kind::primitive : Type::Kind::named;
  type.name = here.text;
  return type;
}

}  // namespace

Type parse_type(Cursor& cursor) {
  Cursor::Nested nested(cursor);
  Type from = parse_atom(cursor);
  if (!cursor.accept("->")) return from;
  Type mapping;
  mapping.at = from.at;
  mapping.kind = Type::Kind::mapping;
  mapping.inner.push_back(std::move(from));
  mapping.inner.push_back(parse_type(cursor));
  return mapping;
}

std::vector<FieldDecl> parse_fields(Cursor& cursor, std::string_view close) {
  std::vector<FieldDecl> fields;
  cursor.skip_separators();
  while (!cursor.at(close) && !cursor.ended()) {
    FieldDecl field;
    Name name = cursor.expect_name("a field's name or `" + std::string(close) + "`");
    field.at = name.at;
    field.name = name.text;
    cursor.expect(":", "after the field's name");
    field.type.push_back(parse_type(cursor));
    fields.push_back(std::move(field));
    cursor.skip_separators();
  }
  cursor.expect(close, "");
  return fields;
}

}  // namespace sluice::lang
