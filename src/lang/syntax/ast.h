// What a `.concept`, a `.sync` and a `suite.yaml` say, as plain values. Parsers make these, `kit fmt` prints them,
// the checker, conceptc and the engine read them. Nothing here is checked yet except its shape: names may lead
// nowhere until `check` has run.
//
// Every node keeps the Mark of its first character, so that a message can point at it. Marks and comments do not
// take part in equality: two trees are equal when they mean the same.
#pragma once

#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/document.h"

namespace sluice::lang {

// A Mark that never makes two nodes differ. Line 0: not written.
struct At : Mark {
  bool operator==(const At&) const { return true; }
};

// A `#` or `//` comment, without its sign and one leading blank. `own_line` tells it from one that follows code; the
// rest says where it stood, so that the formatter can put it back.
struct Comment {
  At at;
  std::string text;
  bool own_line = true;
  uint32_t depth = 0;   // braces open around it
  bool inside = false;  // within brackets or parentheses
  bool closes = false;  // what follows is the end of a block or of the file
  bool closed = false;  // it stands behind a closing brace, on its line

  bool operator==(const Comment&) const = default;
};

// A name with its place.
struct Name {
  At at;
  std::string text;

  bool operator==(const Name&) const = default;
};

// ---------------------------------------------------------------------------------------------------- literals

// String, integer, float, bool or null as written; `Int` and `Float` stay apart.
struct Literal {
  At at;
  json::value value;

  bool operator==(const Literal&) const = default;
};

// ------------------------------------------------------------------------------------------------------- types

struct Type;

struct FieldDecl {
  At at;
  std::string name;
  std::vector<Type> type;  // exactly one: a vector because Type is not complete here

  bool operator==(const FieldDecl&) const;
};

// A type as written. `named` is a type parameter of the concept or, if it is none, an error for the checker.
struct Type {
  enum class Kind {
    primitive,  // name is one of kPrimitives
    named,      // name
    set,        // set inner[0]
    list,       // list inner[0]
    option,     // option inner[0]
    record,     // { fields }
    names,      // { a | b }: literals
    literals,   // "a" | "b": literals
    mapping,    // inner[0] -> inner[1]
  };
  At at;
  Kind kind = Kind::primitive;
  std::string name;
  std::vector<Type> inner;
  std::vector<FieldDecl> fields;
  std::vector<std::string> literals;

  bool operator==(const Type&) const = default;
};

inline bool FieldDecl::operator==(const FieldDecl& other) const { return name == other.name && type == other.type; }

// String Int Float Bool Bytes DateTime ID, and Sluice's Request (an open answered action) and Sealed (a handle to a
// secret value).
bool is_primitive(std::string_view name);

// ------------------------------------------------------------------------------------------------- expressions

// Values and conditions, shared by invariants, `where` clauses and `then` arguments. A tree in which `op` says how
// `args` combine.
struct Expr {
  enum class Op {
    literal,   // value
    variable,  // name: `?x` in a sync, a bare lower-case name in an invariant
    wildcard,  // `_`
    path,      // args[0] . name
    list,      // [ args ]
    record,    // { keys[i]: args[i] }
    call,      // name(args): uuid now concat cond nameOf, and predicates in guard(…)
    text,      // a string with {{x}} holes: `parts` alternate with args, parts.size() == args.size() + 1
    equal,
    not_equal,
    less,
    less_equal,
    greater,
    greater_equal,
    in,
    not_in,  // args[0] op args[1]
    all,
    any,
    negation,  // and / or / not
    forall,
    exists,   // name in args[0] (where args[1])? : args.back()
    fixture,  // `$fixture.field`: name, keys[0]
  };
  At at;
  Op op = Op::literal;
  json::value value;
  std::string name;
  std::vector<std::string> keys;
  std::vector<std::string> parts;
  std::vector<Expr> args;
  bool maybe = false;  // a variable in a pattern, `?x?`: it also takes what is not there

  bool operator==(const Expr&) const = default;
};

// `name: value`, in call patterns, fixtures and `then` arguments.
struct Argument {
  At at;
  std::string name;
  Expr value;

  bool operator==(const Argument&) const = default;
};

// `next: Revision/warm [ revision: ?v ] if ?l = "staged"`, `next: view "doctor"` or `next: "a sentence"`: what whoever
// was refused, or got this variant, can do about it. Exactly one of action, view and text is there. An argument that is
// left out stays open.
struct Next {
  At at;
  Name concept_, action;
  Name view;
  std::optional<Expr> text;  // a string or a template
  std::vector<Argument> arguments;
  std::optional<Expr> condition;

  bool operator==(const Next&) const = default;
};

// ------------------------------------------------------------------------------------------------------ concept

enum class Runs { pure, query, effect, answered, answered_outside };
enum class Retry { never, safe, probe };
enum class Callers { anyone, syncs };
enum class Impact { none, changes, shifts, destroys };  // what is at stake where the action is called
std::string_view name_of(Runs runs);                    // as it is written
std::string_view name_of(Retry retry);
std::string_view name_of(Impact impact);

struct Variant {
  At at;
  std::string name;
  std::vector<FieldDecl> fields;
  std::string prose;
  std::optional<Name> code;  // @code(name), a name of base's code table
  std::vector<Next> next;    // names are its fields, then the action's arguments

  bool operator==(const Variant&) const = default;
};

struct Fixture {
  At at;
  std::string name;
  std::vector<Argument> input;
  std::vector<Name> after;     // fixtures that must have run before
  std::string variant = "ok";  // what it must end in

  bool operator==(const Fixture&) const = default;
};

// `reversal: destroy (provisionFailed)`: the compensating action, and the variants besides ok that it must follow.
struct Reversal {
  At at;
  std::string action;  // empty for `reversal: none`
  std::vector<Name> variants;

  bool operator==(const Reversal&) const = default;
};

struct Action {
  At at;
  std::string name;
  std::vector<FieldDecl> params;
  std::string description;
  Runs runs = Runs::pure;
  Retry retry = Retry::never;
  int64_t deadline_s = 60;
  Callers callers = Callers::anyone;
  std::string right;  // that a caller from outside must hold; empty: not said
  Impact impact = Impact::changes;
  // Where these were written, for `kit fmt` and for messages; a clause that was left out has none.
  std::optional<At> runs_at, retry_at, deadline_at, callers_at, right_at, impact_at;
  At description_at;
  std::optional<Reversal> reversal;
  std::vector<Variant> variants;
  std::vector<Fixture> fixtures;

  bool is_answered() const { return runs == Runs::answered || runs == Runs::answered_outside; }
  bool operator==(const Action&) const = default;
};

// One component of `state {}`. Groups are headings: they are printed, and mean nothing.
struct StateField {
  At at;
  At group_at;
  std::string group;  // empty outside groups
  std::string name;
  Type type;

  bool operator==(const StateField&) const = default;
};

// `plan(manifest: m, environment: "staging") -> ok(plan: p)`, or a condition: `p = "x"`.
struct Step {
  At at;
  std::string concept_;           // `Item/get(…)` in a scenario; empty: the concept itself
  std::string action;             // empty: a condition
  std::optional<Expr> condition;  // and then this is set
  std::vector<Argument> input;
  std::string variant;
  std::vector<Argument> output;

  bool operator==(const Step&) const = default;
};

struct Invariant {
  enum class Kind { example, forall, always, never, eventually, scenario, contract };
  struct Given {  // forall: `given x in [ … ] where …`, or in a state field or type
    At at;
    std::string variable;
    Expr in;
    std::optional<Expr> where;
    bool operator==(const Given&) const = default;
  };
  struct Settlement {      // scenario: `sync`, `async-eventually` with a timeout, `async-with-anchor` with an anchor
    std::optional<At> at;  // none: not written
    std::string kind = "sync";
    int64_t timeout_ms = 0;
    std::string anchor;
    bool operator==(const Settlement&) const = default;
  };
  struct Clause {  // contract: `requires: e`, `ensures ok: e`
    At at;
    bool requires_ = false;
    std::string variant;  // empty: every variant
    Expr condition;
    bool operator==(const Clause&) const = default;
  };
  At at;
  Kind kind = Kind::example;
  std::string name;                 // may be empty
  std::vector<Step> after;          // example, forall; scenario's `when`
  std::vector<Step> then;           // example, forall, scenario
  std::vector<Given> given;         // forall
  std::vector<Step> before;         // scenario (`given`)
  At before_at, after_at, then_at;  // scenario: where each part was first written
  std::vector<Fixture> fixtures;    // scenario
  std::vector<Expr> conditions;     // always, never, eventually, forall: all must hold
  Settlement settlement;            // scenario
  std::string action;               // contract: the action it speaks of
  std::vector<Clause> clauses;      // contract

  bool operator==(const Invariant&) const = default;
};

// `portInUse -> provisionFailed[ reason: "port {{port}} is in use" ]` in a `provides`: how variants of the provider's
// action stand for one of the coordination action.
struct ProvidedVariant {
  At at;
  std::vector<Name> from;  // none: `else`, the engine outcomes
  std::optional<Name> to;  // none: a variant of the same name
  std::vector<Argument> fields;

  bool operator==(const ProvidedVariant&) const = default;
};

// `provision -> provision [ instance: row ] { … }`: what does the work of a coordination action; or, without braces,
// the variant with which the request is answered at once.
struct ProvidedAction {
  At at;
  Name action;  // of the coordination concept
  Name target;  // of the provider; at once: a variant of the coordination action
  bool at_once = false;
  std::vector<Argument> arguments;
  std::vector<ProvidedVariant> variants;

  bool operator==(const ProvidedAction&) const = default;
};

// `provides Runtime { … }`, from which routing and answering rules follow (lang/check/provided_rules.h).
struct Provides {
  At at;
  Name concept_;
  std::vector<ProvidedAction> actions;

  bool operator==(const Provides&) const = default;
};

struct Concept {
  std::string file;
  At at;
  std::string name;
  std::vector<Name> params;
  std::optional<int64_t> version;  // @version
  bool gate = false;               // @gate
  std::string category, visibility;
  std::string purpose;
  std::vector<StateField> state;
  std::vector<Action> actions;
  std::vector<Name> capabilities;  // requires …
  std::vector<Invariant> invariants;
  int64_t parallel = 32;
  std::optional<At> parallel_at;
  std::string kind;               // of a provider: the value of `routed by` that leads to it
  std::optional<Name> routed_by;  // of a coordination concept: the argument or field that names a provider's kind
  std::vector<Provides> provides;
  At kind_at, routed_by_at;
  At version_at, gate_at, category_at, visibility_at;
  At purpose_at, state_at, actions_at, capabilities_at;
  std::vector<Comment> comments;
  std::vector<uint32_t> blank_lines;  // of the source, for the formatter

  bool operator==(const Concept& other) const;  // all but file, comments and blank lines
};

// --------------------------------------------------------------------------------------------------------- sync

// `field: ?x`, `field: "literal"`, `field: _`, `field: { nested }` in a pattern.
struct FieldPattern {
  At at;
  std::string field;
  Expr match;              // literal, variable, wildcard, or record of such
  std::optional<Name> as;  // in a query, `field: ?v as ?x`: a second name for the value, without the `?`

  bool operator==(const FieldPattern&) const = default;
};

// `Concept/action: [ … ] => outcome`. Concept and action may be variables (`?c/?a`), which then match and bind any. Of
// an alternation, `Concept/{a, b}: [ … ] => {ok, partial}[ … ]`, the names behind the first are apart.
struct Pattern {
  enum class Link { plain, caused_by, latest };
  enum class Outcome {
    variant,    // => ok[ … ]
    any,        // => [ … ]: every declared variant that has the fields
    requested,  // => requested
    engine,     // => engine.fault[ … ]: variant holds `fault`
  };
  At at;
  Link link = Link::plain;
  Name concept_, action;  // a variable keeps its `?` in text
  std::vector<Name> other_actions;
  std::vector<FieldPattern> input;
  Outcome outcome = Outcome::variant;
  Name variant;
  std::vector<Name> other_variants;
  std::vector<FieldPattern> output;
  std::optional<Name> as;  // `as ?ask`, without the `?`

  std::vector<Name> actions() const;   // all of them
  std::vector<Name> variants() const;  // likewise
  std::string action_text() const;     // as it is written: `a`, `{a, b}`
  std::string variant_text() const;    // without `engine.`
  bool operator==(const Pattern&) const = default;
};

// `Concept.listField: { ?key field: ?v; … }`
struct Query {
  At at;
  Name concept_;
  std::optional<Name> relation;      // the list or set field
  std::optional<Name> key;           // leading variable, without `?`
  std::vector<FieldPattern> fields;  // field may be a path into a record (`criteria.maxErrorRate`)

  bool operator==(const Query&) const = default;
};

// One line of a `where` or a `require`.
struct Condition {
  enum class Kind {
    query,   // query
    no,      // no query
    filter,  // filter(expr) and guard(expr): the row stays if it holds
    any,     // any(e; e): exprs
    bind,    // bind(expr as ?name)
    each,    // each(?list as { field: ?v, … }): expr is the list, fields bind
  };
  At at;
  Kind kind = Kind::query;
  Query query;
  std::vector<Expr> exprs;
  std::string name;
  std::vector<FieldPattern> fields;

  bool operator==(const Condition&) const = default;
};

// One entry of a `then`: an invocation, or an answer.
struct Effect {
  enum class Kind { invoke, answer };
  At at;
  Kind kind = Kind::invoke;
  Name concept_, action;         // invoke; concept_ may be a variable with its `?`
  std::vector<Name> candidates;  // invoke with a variable: `?p in {A, B}/action`
  std::optional<Name> request;   // answer: the variable, without `?`
  Name variant;                  // answer
  std::vector<Argument> arguments;

  bool operator==(const Effect&) const = default;
};

struct Sync {
  std::string file;
  At at;
  Name name;
  std::string purpose;
  std::vector<Name> annotations;  // eager, eventual, loop, idempotent, local, …, as written; retry(…) is apart
  bool eventual = false;
  bool loop = false;
  std::vector<Name> retry_variants;  // [eventual retry(backendUnavailable)]
  std::vector<Pattern> when;
  std::vector<Condition> where;
  std::vector<Effect> then;
  At purpose_at, when_at, where_at, then_at;

  bool operator==(const Sync& other) const;  // all but file
};

struct Guard {
  std::string file;
  At at;
  Name name;
  std::string purpose;
  std::optional<Pattern> before;  // input only; exactly one of before and over
  std::optional<Query> over;
  std::vector<Condition> where;
  std::vector<Condition> require;
  bool engine = false;  // else engine.refused[ … ]
  Name variant;
  std::vector<Argument> arguments;
  std::vector<Next> next;
  At purpose_at, before_at, where_at, require_at, else_at;  // before_at: of `before` or `over`

  bool operator==(const Guard& other) const;  // all but file
};

// A .sync file: rules in the order written.
struct SyncFile {
  std::string file;
  std::vector<std::variant<Sync, Guard>> rules;
  std::vector<Comment> comments;
  std::vector<uint32_t> blank_lines;  // of the source, for the formatter

  bool operator==(const SyncFile& other) const { return rules == other.rules; }
};

// -------------------------------------------------------------------------------------------------------- suite

struct SuiteConcept {
  At at;
  std::string name;
  std::string spec;  // path of the .concept, as written, relative to the suite
  struct Param {
    At at;
    std::string name;
    std::string as;
    std::string description;
    bool operator==(const Param&) const = default;
  };
  std::vector<Param> params;
  bool optional = false;

  bool operator==(const SuiteConcept&) const = default;
};

enum class Tier { required, recommended, integration };

struct SuiteSync {
  At at;
  Tier tier = Tier::required;
  std::string path;
  std::string name;  // alias by which people override or disable it; empty: the sync's own name
  std::string sync;  // which sync of the file; empty: all of them
  std::string description;

  bool operator==(const SuiteSync&) const = default;
};

struct SuiteUse {
  At at;
  std::string suite;
  bool optional = false;
  std::vector<SuiteConcept> concepts;
  std::vector<SuiteSync> syncs;

  bool operator==(const SuiteUse&) const = default;
};

// `Traffic: deployment -> Deployment.environment`: from an argument to the scope that a role must cover.
struct SuiteScope {
  At at;
  std::string concept_;
  std::string path;  // of several for one concept, an action takes the first whose argument it has

  // `deployment`, `Deployment.environment`
  std::vector<std::string> parts() const;
  bool operator==(const SuiteScope&) const = default;
};

// `overrides: { Name: ./other.sync }`
struct SuiteOverride {
  Name name;
  std::string path;

  bool operator==(const SuiteOverride&) const = default;
};

struct Suite {
  std::string file;
  std::string name, version, description;
  std::vector<SuiteConcept> concepts;
  std::vector<SuiteSync> syncs;
  std::vector<Name> guards;  // paths of files whose guards are loaded; syncs' files load theirs too
  std::vector<SuiteUse> uses;
  std::vector<SuiteScope> scopes;
  std::vector<SuiteOverride> overrides;
  std::vector<Name> disable;
  std::vector<Name> dependencies;
  std::vector<Name> rights;              // that actions may name; where there are any, each action must
  std::optional<int64_t> cascade_limit;  // `limits: { cascade: N }`

  bool operator==(const Suite&) const = default;
};

}  // namespace sluice::lang
