// A recursive descent by the grammar of CEL, in the order of its rules.
#include "render/cel/syntax.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/utf8.h"
#include "render/cel/lexer.h"

namespace sluice::cel {
namespace {

constexpr std::string_view kReserved[] = {"as",       "break",     "const",  "continue", "else", "for",
                                          "function", "if",        "import", "in",       "let",  "loop",
                                          "package",  "namespace", "return", "var",      "void", "while"};

struct LoopName {
  std::string_view name;
  Loop loop;
  size_t variables;
  bool conditional;  // a condition stands before the transformation
  size_t arguments;
};

constexpr LoopName kLoops[] = {
    {"all", Loop::all, 1, true, 2},
    {"all", Loop::all, 2, true, 3},
    {"exists", Loop::exists, 1, true, 2},
    {"exists", Loop::exists, 2, true, 3},
    {"exists_one", Loop::exists_one, 1, true, 2},
    {"existsOne", Loop::exists_one, 1, true, 2},
    {"exists_one", Loop::exists_one, 2, true, 3},
    {"existsOne", Loop::exists_one, 2, true, 3},
    {"filter", Loop::filter, 1, true, 2},
    {"map", Loop::transform_list, 1, false, 2},
    {"map", Loop::transform_list, 1, true, 3},
    {"transformList", Loop::transform_list, 2, false, 3},
    {"transformList", Loop::transform_list, 2, true, 4},
    {"transformMap", Loop::transform_map, 2, false, 3},
    {"transformMap", Loop::transform_map, 2, true, 4},
    {"transformMapEntry", Loop::transform_entry, 2, false, 3},
    {"transformMapEntry", Loop::transform_entry, 2, true, 4},
};

// Thrown inside this file alone: a recursive descent of fifteen levels is not readable with a check after each step.
struct Stop {
  Error error;
};

class Parser {
 public:
  Parser(Expression& expression, std::vector<Token> tokens)
      : text_(expression.text), arena_(expression.constants), tokens_(std::move(tokens)) {}

  Node run() {
    Node root = conditional();
    if (now().word != Word::end) stop("'" + now().text + "' does not belong here");
    return root;
  }

 private:
  const Token& now() const { return tokens_[at_]; }

  [[noreturn]] void stop(std::string message, uint32_t offset) const {
    throw Stop{{.code = Code::invalid, .message = std::move(message), .position = place_of(text_, offset)}};
  }
  [[noreturn]] void stop(std::string message) const { stop(std::move(message), now().offset); }

  bool take(std::string_view sign) {
    if (!now().is(sign)) return false;
    ++at_;
    return true;
  }

  void expect(std::string_view sign) {
    if (!take(sign)) {
      stop("expected '" + std::string(sign) + "', found " +
           (now().word == Word::end ? "the end" : "'" + now().text + "'"));
    }
  }

  Node conditional() {
    if (++depth_ > kMaxDepth) stop("this is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    Node node = some();
    if (const auto offset = now().offset; take("?")) {
      Node choice{.what = Syntax::conditional, .offset = offset};
      choice.parts.push_back(std::move(node));
      choice.parts.push_back(some());
      expect(":");
      choice.parts.push_back(conditional());
      node = std::move(choice);
    }
    --depth_;
    return node;
  }

  Node some() {
    return chain(Syntax::some, "||", [this] { return every(); });
  }
  Node every() {
    return chain(Syntax::every, "&&", [this] { return relation(); });
  }

  template <class Next>
  Node chain(Syntax what, std::string_view sign, Next next) {
    Node first = next();
    if (!now().is(sign)) return first;
    Node node{.what = what, .offset = now().offset};
    node.parts.push_back(std::move(first));
    while (take(sign)) node.parts.push_back(next());
    return node;
  }

  template <class Next>
  Node binary(std::initializer_list<std::string_view> signs, Next next) {
    Node left = next();
    for (int length = 0;; ++length) {
      std::string_view found;
      for (const auto sign : signs) {
        if (now().is(sign) || (sign == "in" && now().word == Word::name && now().text == "in")) found = sign;
      }
      if (found.empty()) return left;
      if (length == kMaxDepth) stop("this has more than " + std::to_string(kMaxDepth) + " parts");
      Node node{.what = Syntax::call, .offset = now().offset};
      node.text = found == "in" ? "@in" : "_" + std::string(found) + "_";
      ++at_;
      node.parts.push_back(std::move(left));
      node.parts.push_back(next());
      left = std::move(node);
    }
  }

  Node relation() {
    return binary({"==", "!=", "<=", ">=", "<", ">", "in"}, [this] { return sum(); });
  }
  Node sum() {
    return binary({"+", "-"}, [this] { return product(); });
  }
  Node product() {
    return binary({"*", "/", "%"}, [this] { return unary(); });
  }

  Node unary() {
    const auto offset = now().offset;
    const bool minus = now().is("-");
    if (!minus && !now().is("!")) return member();
    ++at_;
    if (minus && (now().word == Word::integer || now().word == Word::real)) return member_of(number("-"));
    if (++depth_ > kMaxDepth) stop("this is nested deeper than " + std::to_string(kMaxDepth) + " levels");
    Node node{.what = Syntax::call, .offset = offset, .text = minus ? "-_" : "!_"};
    node.parts.push_back(unary());
    --depth_;
    return node;
  }

  Node member() { return member_of(primary()); }

  Node member_of(Node node) {
    for (int length = 0;; ++length) {
      if (length > kMaxDepth) stop("this has more than " + std::to_string(kMaxDepth) + " parts");
      const auto offset = now().offset;
      if (take(".")) {
        const bool optional = take("?");
        if (now().word != Word::name && now().word != Word::quoted_name) stop("expected a name after the dot");
        const Token name = now();
        ++at_;
        if (!optional && name.word == Word::name && now().is("(")) {
          node = call(std::move(node), name);
        } else {
          Node select{.what = Syntax::select, .offset = offset, .text = name.text};
          select.optional = optional;
          select.parts.push_back(std::move(node));
          node = std::move(select);
        }
      } else if (take("[")) {
        Node index{.what = Syntax::index, .offset = offset};
        index.optional = take("?");
        index.parts.push_back(std::move(node));
        index.parts.push_back(conditional());
        expect("]");
        node = std::move(index);
      } else if (now().is("{") && (node.what == Syntax::name || node.what == Syntax::select)) {
        stop("there are no messages here; a map is written {'key': value}");
      } else {
        return node;
      }
    }
  }

  std::vector<Node> arguments() {
    std::vector<Node> parts;
    expect("(");
    while (!now().is(")")) {
      parts.push_back(conditional());
      if (!take(",")) break;
      if (now().is(")")) stop("expected an argument after the comma");
    }
    expect(")");
    return parts;
  }

  // A variable that a macro makes.
  std::string variable(const Node& node) {
    if (node.what != Syntax::name || node.absolute) stop("a macro's variable is a plain name", node.offset);
    return node.text;
  }

  Node call(Node target, const Token& name) {
    auto given = arguments();
    if (target.what == Syntax::name && target.text == "cel" && name.text == "bind" && given.size() == 3) {
      Node node{.what = Syntax::bind, .offset = name.offset};
      node.first = variable(given[0]);
      node.parts.push_back(std::move(given[1]));
      node.parts.push_back(std::move(given[2]));
      return node;
    }
    if ((name.text == "optMap" || name.text == "optFlatMap") && given.size() == 2) {
      Node node{.what = Syntax::optional_map, .offset = name.offset};
      node.optional = name.text == "optFlatMap";
      node.first = variable(given[0]);
      node.parts.push_back(std::move(target));
      node.parts.push_back(std::move(given[1]));
      return node;
    }
    for (const auto& each : kLoops) {
      if (each.name == name.text && each.arguments == given.size()) return loop(each, std::move(target), name, given);
    }
    Node node{.what = Syntax::call, .offset = name.offset, .text = name.text};
    node.receiver = true;
    node.parts.push_back(std::move(target));
    for (auto& each : given) node.parts.push_back(std::move(each));
    return node;
  }

  Node loop(const LoopName& kind, Node range, const Token& name, std::vector<Node>& given) {
    Node node{.what = Syntax::loop, .offset = name.offset, .text = name.text};
    node.loop = kind.loop;
    node.conditional = kind.conditional;
    node.first = variable(given[0]);
    if (kind.variables == 2) node.second = variable(given[1]);
    if (node.first == node.second) stop("the two variables of a macro have different names", given[1].offset);
    node.parts.push_back(std::move(range));
    for (size_t index = kind.variables; index < given.size(); ++index) node.parts.push_back(std::move(given[index]));
    return node;
  }

  Node primary() {
    const Token token = now();
    switch (token.word) {
      case Word::integer:
      case Word::unsigned_integer:
      case Word::real:
        return number("");
      case Word::string:
        ++at_;
        return constant(arena_.string(token.text), token.offset);
      case Word::bytes:
        ++at_;
        return constant(arena_.bytes(token.text), token.offset);
      case Word::name:
        return name(false);
      case Word::end:
        stop("the expression ends too early");
      default:
        break;
    }
    if (take("(")) {
      Node node = conditional();
      expect(")");
      return node;
    }
    if (take("[")) return list(token.offset);
    if (take("{")) return map(token.offset);
    if (take(".")) {
      if (now().word != Word::name) stop("expected a name after the dot");
      return name(true);
    }
    stop("'" + token.text + "' does not belong here");
  }

  Node constant(Value value, uint32_t offset) {
    Node node{.what = Syntax::constant, .offset = offset};
    node.constant = value;
    return node;
  }

  Node name(bool absolute) {
    const Token token = now();
    ++at_;
    if (token.text == "true" || token.text == "false") return constant(Value::of(token.text == "true"), token.offset);
    if (token.text == "null") return constant({}, token.offset);
    if (std::find(std::begin(kReserved), std::end(kReserved), token.text) != std::end(kReserved)) {
      stop("'" + token.text + "' is a reserved word", token.offset);
    }
    if (now().is("(")) {
      auto given = arguments();
      if (token.text == "has" && given.size() == 1 && !absolute) return presence(std::move(given[0]), token.offset);
      Node node{.what = Syntax::call, .offset = token.offset, .text = token.text};
      node.parts = std::move(given);
      return node;
    }
    Node node{.what = Syntax::name, .offset = token.offset, .text = token.text};
    node.absolute = absolute;
    return node;
  }

  Node presence(Node node, uint32_t offset) {
    if (node.what != Syntax::select) stop("has() asks for a field: has(a.b)", offset);
    node.test = true;
    return node;
  }

  Node number(std::string sign) {
    const Token token = now();
    ++at_;
    const std::string digits = sign + token.text;
    if (token.word == Word::real) return constant(Value::of(std::strtod(digits.c_str(), nullptr)), token.offset);
    const bool hex = token.text.size() > 1 && (token.text[1] == 'x' || token.text[1] == 'X');
    uint64_t size = 0;
    const char* begin = token.text.data() + (hex ? 2 : 0);
    const auto read = std::from_chars(begin, token.text.data() + token.text.size(), size, hex ? 16 : 10);
    const bool negative = !sign.empty();
    const uint64_t most =
        token.word == Word::unsigned_integer ? UINT64_MAX : static_cast<uint64_t>(INT64_MAX) + (negative ? 1 : 0);
    if (read.ec != std::errc{} || size > most) stop("'" + digits + "' is beyond 64 bits", token.offset);
    if (token.word == Word::unsigned_integer) return constant(Value::of(size), token.offset);
    return constant(Value::of(static_cast<int64_t>(negative ? 0 - size : size)), token.offset);
  }

  Node list(uint32_t offset) {
    Node node{.what = Syntax::list, .offset = offset};
    while (!now().is("]")) {
      node.spread.push_back(take("?"));
      node.parts.push_back(conditional());
      if (!take(",")) break;
    }
    expect("]");
    return node;
  }

  Node map(uint32_t offset) {
    Node node{.what = Syntax::map, .offset = offset};
    while (!now().is("}")) {
      node.spread.push_back(take("?"));
      node.parts.push_back(conditional());
      expect(":");
      node.parts.push_back(conditional());
      if (!take(",")) break;
    }
    expect("}");
    return node;
  }

  std::string_view text_;
  Arena& arena_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Position place_of(std::string_view text, uint32_t offset) {
  const auto before = text.substr(0, offset);
  const size_t line_start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  Position position{.line = 1 + static_cast<uint32_t>(std::count(before.begin(), before.end(), '\n')), .column = 1};
  for (auto rest = before.substr(line_start); !rest.empty(); ++position.column) {
    rest.remove_prefix(first_code_point(rest).bytes);
  }
  return position;
}

Result<std::unique_ptr<Expression>> parse(std::string_view text) {
  if (text.size() > kMaxExpression) {
    return Error{.code = Code::invalid,
                 .message = "an expression has at most " + std::to_string(kMaxExpression / 1024) + " KiB"};
  }
  if (!valid_utf8(text)) return Error{.code = Code::invalid, .message = "an expression is text in UTF-8"};
  auto expression = std::make_unique<Expression>();
  expression->text = text;
  auto tokens = words_of(expression->text);
  if (!tokens) return tokens.error();
  try {
    expression->root = Parser(*expression, std::move(*tokens)).run();
  } catch (const Stop& stop) {
    return stop.error;
  }
  return expression;
}

}  // namespace sluice::cel
