// A parser's place among the tokens, and its errors. After an error the cursor *stops*: it stands before a token that
// nothing matches, so every loop of the parser runs out without a check of its own, and further errors are silent.
// The parser goes on where it calls recover().
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "lang/syntax/ast.h"
#include "lang/syntax/diagnostic.h"
#include "lang/syntax/lexer.h"

namespace sluice::lang {

// How deep types, expressions and records may nest.
constexpr int kMaxDepth = 100;

class Cursor {
 public:
  // `text` must have passed check_source and outlive the cursor.
  Cursor(std::string_view text, std::string file, Diagnostics& found);

  const Token& peek() const { return stopped_ ? stop_ : token_; }
  bool at(std::string_view spelling) const { return peek().is(spelling); }
  bool at(Token::Kind kind) const { return peek().kind == kind; }
  bool at_word() const { return at(Token::Kind::identifier); }
  bool ended() const { return peek().kind == Token::Kind::end; }  // at the end of the text, or stopped
  bool stopped() const { return stopped_; }

  // The token after the one that stands here; second() and third() those after it.
  Token after() { return ahead(1); }
  Token second() { return ahead(2); }
  Token third() { return ahead(3); }

  Token take();
  bool accept(std::string_view spelling);
  // `;` and `,`, any number: what may stand between two items of a list.
  void skip_separators();

  // "expected `:` after the field's name, found `]`". `where` may be empty.
  void expect(std::string_view spelling, std::string_view where);
  Name expect_name(std::string_view what);      // an identifier; `what` as in "the action's name"
  Name expect_variable(std::string_view what);  // without its sign
  std::string expect_string(std::string_view what);
  std::string expect_prose(std::string_view of);  // `{ free text }`

  // Reports and stops. fail_here also says what stands here.
  void fail(const Token& at, std::string text, std::string hint, std::string rule = "syntax");
  void fail_here(const std::string& expected, std::string hint = "", std::string rule = "syntax");
  // Reports without stopping.
  void report(const Token& at, std::string text, std::string hint, std::string rule,
              Diagnostic::Severity severity = Diagnostic::Severity::error);
  size_t errors() const { return found_.errors(); }

  // If stopped: skips to a token that is the first on its line and spelled as one of `words`, or to the brace that
  // closes a block whose contents lie at `depth`, and goes on there. Otherwise does nothing.
  void recover(uint32_t depth, std::initializer_list<std::string_view> words);

  // A closing brace is known to be missing: what follows lies at `depth`.
  void assume_depth(uint32_t depth) { lexer_.set_depth(depth); }

  // Counts nesting; reports and stops beyond kMaxDepth. Held for as long as the nested thing is parsed.
  class Nested {
   public:
    explicit Nested(Cursor& cursor) : cursor_(cursor) {
      if (++cursor_.nesting_ > kMaxDepth) {
        cursor_.fail(cursor_.peek(), "nested more than " + std::to_string(kMaxDepth) + " deep", "take it apart",
                     "nesting");
      }
    }
    ~Nested() { --cursor_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Cursor& cursor_;
  };

  std::vector<Comment> take_comments() { return lexer_.take_comments(); }
  const std::string& file() const { return file_; }

 private:
  Token ahead(int count);
  void advance();

  Lexer lexer_;
  std::string file_;
  Diagnostics& found_;
  Token token_, stop_;
  bool stopped_ = false;
  const char* resumed_ = nullptr;  // where recover() last found a word
  int nesting_ = 0;
};

// From one place of a file to another.
struct Span {
  Mark begin, end;
};

// Comments within one of the spans move one brace outwards: the canonical form does without these braces.
void lift_comments(std::vector<Comment>& comments, const std::vector<Span>& spans);

// A token as a message names it: "`}`", "the end of the file".
std::string describe(const Token& token);

}  // namespace sluice::lang
