// A whole page.
#include "lang/codegen/generate_reference.h"

#include <gtest/gtest.h>

#include "lang/syntax/concept_parser.h"

namespace sluice::lang {
namespace generate_reference_test {

TEST(GenerateReference, IsAPageThatSaysAll) {
  std::string text = R"(@version(1)
concept Box [B] {
  purpose { Keep
            <things>. }
  state { size: B -> "s" | "l" }
  actions {
    action open(box: B, how: { hard: Bool }) {
      description { Lift the lid. }
      runs: effect
      retry: safe
      deadline: 5s
      callers: syncs
      reversal: open
      -> ok(box: B) { It is open. }
      -> stuck @code(gate_rejected) { It is not. }
      fixture rusty { box: $new.box, how: { hard: true } } after new -> stuck
      fixture new { box: "n", how: { hard: false } }
    }
  }
  eventually "all open" { 1 = 1 }
  action open { ensures ok: 1 = 1 }
}
)";
  Diagnostics found;
  auto spec = parse_concept(text, "box.concept", found);
  ASSERT_TRUE(spec) << render(found, text);
  EXPECT_EQ(generate_reference(*spec), R"(# Box

Keep \<things>.

Version 1.

## Actions

### open

`open(box: B, how: { hard: Bool })`

Lift the lid.

Touches the world; may be repeated. Deadline 5 s. Called by syncs alone. Undone by `open`.

| outcome | fields | meaning |
|---|---|---|
| `ok` | `box: B` | It is open. |
| `stuck` |  | It is not. Exit code of `gate_rejected`. |

Fixtures:

- `rusty`: `{ box: $new.box, how: { hard: true } }` after `new` → `stuck`
- `new`: `{ box: "n", how: { hard: false } }` → `ok`

## State

| field | type |
|---|---|
| `size` | `B -> "s" \| "l"` |

## Invariants

- **all open**: comes to hold; needs syncs and a clock, so kit tests run it.
- **open**: a contract: what the action requires and ensures.
)");
}

}  // namespace generate_reference_test
}  // namespace sluice::lang
