// One function a family of statements. tests/migrate/test_lint.py compares them with pg_locks of a real server.
#include "migrate/lock_level.h"

#include <algorithm>
#include <array>

#include "migrate/sql_text.h"

namespace sluice::migrate {
namespace {

using enum LockLevel;
using json::array;
using json::value;

// The lock on a table; none if nobody has it yet.
LockLevel on(const std::string& table, const TableNames& own, LockLevel level) {
  return own.contains(table) ? none : level;
}

LockLevel on(const value& relation, const TableNames& own, LockLevel level) {
  return relation.is_null() ? none : on(table_of(relation), own, level);
}

LockLevel on_all(const array& relations, const TableNames& own, LockLevel level) {
  LockLevel strongest = none;
  for (const value& each : relations) strongest = std::max(strongest, on(fields_of(each), own, level));
  return strongest;
}

// ---- what reads and writes rows, wherever it stands in a statement

void find_common_tables(const value& node, TableNames& names) {
  if (const array* items = node.if_array()) {
    for (const value& each : *items) find_common_tables(each, names);
  } else if (const json::object* object = node.if_object()) {
    for (const auto& [key, inner] : *object) {
      if (key == "CommonTableExpr") names.insert("public." + std::string(text_in(inner, "ctename")));
      find_common_tables(inner, names);
    }
  }
}

LockLevel of_rows(const value& node, const TableNames& own) {
  LockLevel level = none;
  if (const array* items = node.if_array()) {
    for (const value& each : *items) level = std::max(level, of_rows(each, own));
    return level;
  }
  const json::object* object = node.if_object();
  if (object == nullptr) return none;
  for (const auto& [key, inner] : *object) {
    if (key == "RangeVar") level = std::max(level, on(inner, own, access_share));
    if (is_one_of(key, {"InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt"})) {
      level = std::max(level, on(field_of(inner, "relation"), own, row_exclusive));
    }
    level = std::max(level, of_rows(inner, own));
  }
  const bool locks_rows = object->contains("lockingClause");
  return locks_rows && level != none ? std::max(level, row_share) : level;
}

LockLevel of_rows_in(std::string_view kind, const value& node, const TableNames& own) {
  TableNames known = own;
  find_common_tables(node, known);
  LockLevel level = of_rows(node, known);
  if (kind != "SelectStmt") level = std::max(level, on(field_of(node, "relation"), own, row_exclusive));
  return level;
}

// The tables that foreign keys lead to.
LockLevel of_references(const value& node, const TableNames& own) {
  LockLevel level = none;
  if (const array* items = node.if_array()) {
    for (const value& each : *items) level = std::max(level, of_references(each, own));
  } else if (const json::object* object = node.if_object()) {
    for (const auto& [key, inner] : *object) {
      level = std::max(level, key == "pktable" ? on(inner, own, share_row_exclusive) : of_references(inner, own));
    }
  }
  return level;
}

// ---- CREATE

LockLevel of_create_table(const value& node, const TableNames& own) {
  const array& parents = items_in(node, "inhRelations");
  const bool is_partition = !field_of(node, "partbound").is_null();
  LockLevel level = on_all(parents, own, is_partition ? access_exclusive : share_update_exclusive);
  for (const value& each : items_in(node, "tableElts")) {
    if (kind_of(each) != "TableLikeClause") continue;
    level = std::max(level, on(field_of(fields_of(each), "relation"), own, access_share));
  }
  TableNames with_itself = own;
  with_itself.insert(table_of(field_of(node, "relation")));
  return std::max(level, of_references(field_of(node, "tableElts"), with_itself));
}

LockLevel of_create(std::string_view kind, const value& node, const TableNames& own) {
  const value& relation = field_of(node, "relation");
  if (kind == "CreateStmt") return of_create_table(node, own);
  if (kind == "CreateTableAsStmt") return of_rows_in("SelectStmt", field_of(node, "query"), own);
  if (kind == "IndexStmt") return on(relation, own, is_set(node, "concurrent") ? share_update_exclusive : share);
  if (kind == "ViewStmt") {
    return is_set(node, "replace") ? access_exclusive : of_rows_in("SelectStmt", field_of(node, "query"), own);
  }
  if (kind == "CreateTrigStmt") {
    return std::max(on(relation, own, share_row_exclusive), on(field_of(node, "constrrel"), own, share_row_exclusive));
  }
  if (kind == "CreateStatsStmt") return on_all(items_in(node, "relations"), own, share_update_exclusive);
  if (kind == "RuleStmt") return on(relation, own, access_exclusive);
  return none;
}

// ---- DROP

LockLevel of_drop(const value& node, const TableNames& own) {
  const std::string_view what = text_in(node, "removeType");
  if (what == "OBJECT_INDEX") return is_set(node, "concurrent") ? share_update_exclusive : access_exclusive;
  if (what == "OBJECT_STATISTIC_EXT") return share_update_exclusive;
  const bool of_table = is_one_of(what, {"OBJECT_TRIGGER", "OBJECT_POLICY", "OBJECT_RULE"});
  if (of_table || what == "OBJECT_TABLE") {
    LockLevel level = none;
    for (const value& each : items_in(node, "objects")) {
      const array& name = items_in(fields_of(each), "items");
      level = std::max(level, on(table_of(name, name.size() - (of_table ? 1 : 0)), own, access_exclusive));
    }
    return level;
  }
  const bool is_relation =
      is_one_of(what, {"OBJECT_VIEW", "OBJECT_MATVIEW", "OBJECT_SEQUENCE", "OBJECT_FOREIGN_TABLE"});
  return is_relation || text_in(node, "behavior") == "DROP_CASCADE" ? access_exclusive : none;
}

// ---- ALTER

LockLevel of_command(const value& command) {
  const std::string_view what = text_in(command, "subtype");
  const value& added = fields_of(field_of(command, "def"));
  if (what == "AT_AddConstraint") {
    return text_in(added, "contype") == "CONSTR_FOREIGN" ? share_row_exclusive : access_exclusive;
  }
  if (is_one_of(what,
                {"AT_SetStatistics", "AT_SetOptions", "AT_ResetOptions", "AT_ValidateConstraint", "AT_SetRelOptions",
                 "AT_ResetRelOptions", "AT_ClusterOn", "AT_DropCluster", "AT_DetachPartitionFinalize"})) {
    return share_update_exclusive;
  }
  if (what == "AT_DetachPartition" && is_set(added, "concurrent")) return share_update_exclusive;
  if (what.starts_with("AT_EnableTrig") || what.starts_with("AT_DisableTrig") ||
      is_one_of(what, {"AT_EnableAlwaysTrig", "AT_EnableReplicaTrig"})) {
    return share_row_exclusive;
  }
  return access_exclusive;
}

LockLevel of_alter_table(const value& node, const TableNames& own) {
  const std::string_view what = text_in(node, "objtype");
  const bool is_own = own.contains(table_of(field_of(node, "relation")));
  LockLevel level = of_references(field_of(node, "cmds"), own);
  for (const value& each : items_in(node, "cmds")) {
    const value& command = fields_of(each);
    if (text_in(command, "subtype") == "AT_AttachPartition") {
      const value& partition = field_of(fields_of(field_of(command, "def")), "name");
      level = std::max(level, on(partition, own, access_exclusive));
      if (!is_own) level = std::max(level, share_update_exclusive);
    } else if (!is_own) {
      const bool by_command = what == "OBJECT_TABLE" || what == "OBJECT_INDEX";
      level = std::max(level, by_command ? of_command(command) : access_exclusive);
    }
  }
  return level;
}

LockLevel of_alter_domain(const value& node) {
  const std::string_view what = text_in(node, "subtype");
  const bool proves =
      what == "O" || what == "V" || (what == "C" && !is_set(fields_of(field_of(node, "def")), "skip_validation"));
  return proves ? share : none;
}

LockLevel of_alter(std::string_view kind, const value& node, const TableNames& own) {
  if (kind == "AlterTableStmt") return of_alter_table(node, own);
  if (kind == "AlterTableMoveAllStmt") return access_exclusive;
  if (kind == "RenameStmt" && text_in(node, "renameType") == "OBJECT_INDEX") return share_update_exclusive;
  if (kind == "RenameStmt" || kind == "AlterObjectSchemaStmt") {
    return on(field_of(node, "relation"), own, access_exclusive);
  }
  if (kind == "AlterSeqStmt") return share_row_exclusive;
  if (kind == "AlterStatsStmt") return share_update_exclusive;
  if (kind == "AlterDomainStmt") return of_alter_domain(node);
  return none;
}

// ---- the others

LockLevel of_comment(const value& node, const TableNames& own) {
  const std::string_view what = text_in(node, "objtype");
  const array& name = items_in(fields_of(field_of(node, "object")), "items");
  if (what == "OBJECT_COLUMN") return on(table_of(name, name.size() - 1), own, share_update_exclusive);
  const bool is_relation =
      is_one_of(what, {"OBJECT_TABLE", "OBJECT_VIEW", "OBJECT_MATVIEW", "OBJECT_INDEX", "OBJECT_SEQUENCE"});
  return is_relation ? on(table_of(name, name.size()), own, share_update_exclusive) : none;
}

LockLevel of_analyze(const value& node, const TableNames& own) {
  const array& tables = items_in(node, "rels");
  LockLevel level = tables.empty() ? share_update_exclusive : none;
  for (const value& each : tables) {
    level = std::max(level, on(field_of(fields_of(each), "relation"), own, share_update_exclusive));
  }
  return level;
}

bool runs_concurrently(const value& node) {
  return std::ranges::any_of(items_in(node, "params"),
                             [](const value& each) { return text_in(fields_of(each), "defname") == "concurrently"; });
}

}  // namespace

std::string_view lock_name(LockLevel level) {
  constexpr std::array<std::string_view, 10> kNames = {
      "",      "ACCESS SHARE",        "ROW SHARE", "ROW EXCLUSIVE",    "SHARE UPDATE EXCLUSIVE",
      "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE", "unknown"};
  return kNames[static_cast<size_t>(level)];
}

LockLevel lock_of(const ParseTree& tree, const TableNames& own) {
  const std::string_view kind = tree.kind;
  const value& node = tree.node;
  if (is_one_of(kind, {"SelectStmt", "InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt"})) {
    return of_rows_in(kind, node, own);
  }
  if (kind == "ExplainStmt") return lock_of(statement_in(node, "query"), own);
  if (kind == "DropStmt") return of_drop(node, own);
  if (kind == "DropOwnedStmt" || kind == "ClusterStmt") return access_exclusive;
  if (kind.starts_with("Alter") && kind != "AlterPolicyStmt") return of_alter(kind, node, own);
  if (kind == "RenameStmt") return of_alter(kind, node, own);
  if (kind == "CreatePolicyStmt" || kind == "AlterPolicyStmt") {
    return on(field_of(node, "table"), own, access_exclusive);
  }
  if (kind == "TruncateStmt") return on_all(items_in(node, "relations"), own, access_exclusive);
  if (kind == "ReindexStmt") return runs_concurrently(node) ? share_update_exclusive : access_exclusive;
  if (kind == "VacuumStmt") return of_analyze(node, own);
  if (kind == "RefreshMatViewStmt") return is_set(node, "concurrent") ? exclusive : access_exclusive;
  if (kind == "CommentStmt") return of_comment(node, own);
  if (kind == "DoStmt" || kind == "CallStmt") return unknown;
  return of_create(kind, node, own);
}

}  // namespace sluice::migrate
