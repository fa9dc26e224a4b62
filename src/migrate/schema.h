// What a database's schema is, object by object, so that two moments can be compared: `migrate drift`, and the undoing
// of an expansion. Sluice's own tables and triggers are no part of it.
#pragma once

#include <string>
#include <vector>

#include "base/json_fields.h"
#include "base/result.h"
#include "migrate/database.h"

namespace sluice::migrate {

struct SchemaObject {
  std::string kind;        // table, column, constraint, index, view, sequence, function, trigger, type, policy, ddl
  std::string name;        // in quotes where SQL wants them: "public"."users"
  std::string definition;  // whatever would make another object of it
  std::string of;          // the table that it goes with; empty if there is none

  bool operator==(const SchemaObject&) const = default;
};
BOOST_DESCRIBE_STRUCT(SchemaObject, (), (kind, name, definition, of))

using Schema = std::vector<SchemaObject>;  // by kind and name

Result<Schema> describe_schema(Database& database);

// "sha256:…" of it.
std::string fingerprint(const Schema& schema);
std::string schema_to_json(const Schema& schema);
Result<Schema> schema_from_json(const std::string& text);

enum class Change { added, changed, removed };
struct Difference {
  Change change = Change::added;
  SchemaObject object;  // as it is now; as it was, if it was removed
};

// What became of `before`. What only follows from another difference (a table's text, where one of its columns
// changed; the columns of a table that is new) is left out.
std::vector<Difference> differences(const Schema& before, const Schema& after);
// "+ column "users"."full_name"": one of + ~ -, the kind and the name.
std::string to_line(const Difference& difference);

// The statements that remove what `after` has and `before` has not, in an order that works. Refused if something that
// was there has changed or is gone.
Result<std::vector<std::string>> undoing(Engine engine, const Schema& before, const Schema& after);

}  // namespace sluice::migrate
