// A deployment is found by its bundle and its customer. One that is not there is added and its archive staged; of one
// that is there, routes, shares, overrides and status are compared, never its revisions.
#include "deploy/views/bundles_plan.h"

#include <algorithm>
#include <boost/json.hpp>
#include <set>

#include "base/json.h"
#include "base/json_writer.h"
#include "deploy/revenue_policy.h"
#include "deploy/routes.h"
#include "deploy/run_settings.h"
#include "deploy/views/bundle_settings.h"
#include "deploy/views/documents.h"
#include "deploy/views/environment_file.h"
#include "deploy/views/leading.h"
#include "revision.gen.h"

namespace sluice::deploy::views {
namespace {

using deployment::DeploymentFound;

constexpr std::string_view kFile = "file://";

bool is_digest(std::string_view source) { return source.starts_with("sha256:"); }

// The newest that could be made of its archive, one that is archived if no other is left; null if there is none.
std::optional<revision::RevisionFound> newest_of(const States& states, const std::string& deployment) {
  std::optional<revision::RevisionFound> newest;
  auto rank = [](const revision::RevisionRecord& record) {
    return std::pair(record.lifecycle != revision::RevisionLifecycle::archived, record.sequence);
  };
  for (auto& each : states.revision().find_by_deployment(deployment)) {
    if (each.record.bundleDigest.empty()) continue;
    if (!newest || rank(each.record) > rank(newest->record)) newest = std::move(each);
  }
  return newest;
}

// How it runs, where that is not as its bundle says: what its revision was asked for, and over it what scaling has
// said.
json::object running_of(const deployment::DeploymentRecord& record, const revision::RevisionRecord& serves) {
  const RunSettings settings = run_settings_of(serves.config);
  json::object running;
  if (settings.replicas) running["replicas"] = static_cast<int64_t>(*settings.replicas);
  if (record.replicas) running["replicas"] = *record.replicas;
  if (settings.health) running["health"] = *settings.health;
  if (settings.migrations) running["migrations"] = to_json(*settings.migrations);
  return running;
}

// An export also says what the environment has answered for the bundle, as another home does not know it.
void settle(const States& states, const revision::RevisionRecord& serves, json::value& config) {
  const json::object answers = environment_answers(states, serves.environment, serves.bundle);
  auto asks = serves.asks ? read_asks(*serves.asks) : Result<Asks>(Asks());
  if (answers.empty() || !asks) return;
  if (!config.is_object()) config = json::object();
  json::object& whole = config.get_object();
  json::value& plain = whole["non_secret"];
  if (!plain.is_object()) plain = json::object();
  const json::value* refs = whole.if_contains("runtime_refs");
  for (const auto& each : answers) {
    if (std::ranges::none_of(asks->questions, [&](const auto& one) { return one.name.text == each.key(); })) continue;
    const bool own = plain.get_object().contains(each.key()) ||
                     (refs != nullptr && refs->is_object() && refs->get_object().contains(each.key()));
    if (!own) plain.get_object()[each.key()] = each.value();
  }
}

class BundlesPlanner {
 public:
  BundlesPlanner(const States& states, const Document& file, EnvironmentPlan& plan)
      : states_(states), file_(file), plan_(plan) {}

  Result<void> run(const json::value& wanted, bool prune) {
    if (!wanted.is_array()) return wrong(file_, "/bundles", "expected a list");
    auto deployments = states_.deployment().find_by_environment(plan_.environment);
    std::set<std::string> named;
    for (size_t i = 0; i < wanted.get_array().size(); ++i) {
      const json::value& each = wanted.get_array()[i];
      const std::string path = "/bundles/" + std::to_string(i);
      if (auto sound = check_fields_of<FileBundle>(file_, path, each); !sound) {
        return sound;
      }
      auto entry = read_entry(path, each);
      if (!entry) return entry.error();
      if (!named.insert(entry->bundle + " for " + entry->customer).second) {
        return wrong(file_, path, entry->bundle + " for " + entry->customer + " is named twice");
      }
      auto found = std::ranges::find_if(deployments, [&](const DeploymentFound& one) {
        return one.record.bundle == entry->bundle && one.record.customer == entry->customer;
      });
      auto done = found == deployments.end() ? plan_added(*entry) : plan_changed(*entry, *found);
      if (!done) return done;
    }
    for (const DeploymentFound& each : deployments) {
      if (prune && !named.contains(each.record.bundle + " for " + each.record.customer)) plan_removed(each);
    }
    return {};
  }

 private:
  struct Key {
    std::string bundle, customer;
  };
  struct BundleEntry {
    std::string path;
    const json::object& fields;
    std::string bundle, customer, status, source;
    json::object input;  // of its routes, shares and overrides, where the file has them
    Key key() const { return {bundle, customer}; }
  };

  void add(const Key& of, char sign, std::string what, std::string action, json::object input, bool of_added = false) {
    plan_.changes.push_back(
        {sign, std::move(what), std::move(action), std::move(input), of_added, of.bundle, of.customer});
  }

  Result<BundleEntry> read_entry(const std::string& path, const json::value& value) {
    BundleEntry entry{.path = path, .fields = value.get_object()};
    for (auto [name, member] : {std::pair{"bundle_id", &BundleEntry::bundle},
                                {"customer_id", &BundleEntry::customer},
                                {"status", &BundleEntry::status},
                                {"bundle_source_uri", &BundleEntry::source}}) {
      auto text = text_at(file_, path, value, name);
      if (!text) return text.error();
      entry.*member = *text;
    }
    if (entry.bundle.empty()) return wrong(file_, path, "expected a bundle_id");
    if (!entry.status.empty() && entry.status != "active" && entry.status != "paused" && entry.status != "archived") {
      return wrong(file_, path + "/status", "expected active, paused or archived");
    }
    if (const json::value* binding = entry.fields.if_contains("route_binding")) {
      if (auto sound = read_route(path + "/route_binding", *binding, entry.input); !sound) return sound.error();
    }
    if (const json::value* shares = entry.fields.if_contains("revenue_share")) {
      if (auto sound = read_shares(path + "/revenue_share", *shares, entry.input); !sound) return sound.error();
    }
    if (const json::value* overrides = entry.fields.if_contains("config_overrides")) {
      if (!overrides->is_object()) return wrong(file_, path + "/config_overrides", "expected an object");
      entry.input["configOverrides"] = overrides->get_object().empty() ? "" : write(*overrides);
    }
    return entry;
  }

  Result<void> read_route(const std::string& path, const json::value& binding, json::object& input) {
    if (auto sound = check_fields_of<FileRoute>(file_, path, binding); !sound) {
      return sound;
    }
    for (auto [name, field] : {std::pair{"hosts", "hosts"}, {"path_prefixes", "pathPrefixes"}}) {
      const json::value* list = binding.as_object().if_contains(name);
      if (list == nullptr) continue;
      bool texts =
          list->is_array() && std::ranges::all_of(list->get_array(), [](const auto& v) { return v.is_string(); });
      if (!texts) return wrong(file_, path + "/" + name, "expected a list of texts");
      input[field] = *list;
    }
    if (const json::value* selector = binding.as_object().if_contains("tenant_selector")) {
      if (auto sound = check_fields_of<FileTenant>(file_, path + "/tenant_selector", *selector); !sound) {
        return sound;
      }
      for (const char* name : {"tenant", "team"}) {
        auto text = text_at(file_, path + "/tenant_selector", *selector, name);
        if (!text) return text.error();
        input[name] = *text;
      }
    }
    return {};
  }

  Result<void> read_shares(const std::string& path, const json::value& shares, json::object& input) {
    if (!shares.is_array()) return wrong(file_, path, "expected a list");
    json::array parties;
    std::vector<RevenueParty> named;
    for (size_t i = 0; i < shares.get_array().size(); ++i) {
      const json::value& each = shares.get_array()[i];
      const std::string place = path + "/" + std::to_string(i);
      if (auto sound = check_fields_of<ShareDocument>(file_, place, each); !sound) return sound;
      auto party = text_at(file_, place, each, "party_id");
      if (!party) return party.error();
      const json::value* points = each.as_object().if_contains("basis_points");
      if (points == nullptr || !points->is_int64()) return wrong(file_, place, "expected basis_points");
      parties.push_back(json::object{{"partyId", *party}, {"basisPoints", points->get_int64()}});
      named.push_back({*party, points->get_int64()});
    }
    input["parties"] = std::move(parties);
    const std::string fault = named.empty() ? std::string() : fault_of_shares(named);
    return fault.empty() ? Result<void>() : Result<void>(wrong(file_, path, fault));
  }

  // Where the file says that the archive is: with the bundle, or with the newest of its revisions.
  std::string source_of(const BundleEntry& entry) const {
    if (!entry.source.empty()) return entry.source;
    const json::value* revisions = file_.root.as_object().if_contains("revisions");
    const json::value* id = entry.fields.if_contains("deployment_id");
    if (revisions == nullptr || !revisions->is_array() || id == nullptr) return "";
    std::string source;
    int64_t last = -1;
    for (const json::value& each : revisions->get_array()) {
      if (!each.is_object()) continue;
      const json::object& revision = each.get_object();
      const json::value* of = revision.if_contains("deployment_id");
      const json::value* uri = revision.if_contains("bundle_source_uri");
      const json::value* sequence = revision.if_contains("sequence");
      const json::value* digest = revision.if_contains("bundle_digest");
      if (of == nullptr || *of != *id || uri == nullptr || !uri->is_string()) continue;
      if (sequence == nullptr || !sequence->is_int64() || sequence->get_int64() <= last) continue;
      if (digest == nullptr || !digest->is_string()) continue;
      last = sequence->get_int64();
      source = std::string(uri->get_string());
    }
    return source;
  }

  Result<void> plan_added(const BundleEntry& entry) {
    if (entry.status == "archived") return {};  // there is nothing to make of it
    std::string source = source_of(entry);
    if (source.starts_with(kFile)) source.erase(0, kFile.size());
    const std::string title = entry.bundle + " for " + entry.customer;
    // As an export says it of a deployment without revisions.
    const json::value* said = entry.fields.if_contains("bundle_source_uri");
    const bool unstaged = source.empty() && said != nullptr && said->is_null();
    if (source.empty() && !unstaged) {
      return wrong(file_, entry.path,
                   title + " is not deployed in " + plan_.environment + "; add bundle_source_uri, or deploy it first");
    }
    json::object added{{"environment", plan_.environment},
                       {"bundle", entry.bundle},
                       {"customer", entry.customer},
                       {"hosts", json::array()},
                       {"pathPrefixes", json::array()},
                       {"tenant", ""},
                       {"team", ""},
                       {"parties", json::array()}};
    for (const auto& each : entry.input) {
      if (each.key() != "configOverrides") added[each.key()] = each.value();
    }
    if (auto sound = wants_other_routes(entry, {}); !sound) return sound.error();
    add(entry.key(), '+', title, "Deployment/add", std::move(added));
    if (const json::value* overrides = entry.input.if_contains("configOverrides");
        overrides != nullptr && *overrides != json::value("")) {
      add(entry.key(), '+', "overrides of " + title, "Deployment/update", {{"configOverrides", *overrides}}, true);
    }
    json::value config = json::object();
    if (const json::value* given = entry.fields.if_contains("config"); given != nullptr && !given->is_null()) {
      if (auto sound = check_fields_of<FileConfig>(file_, entry.path + "/config", *given); !sound) {
        return sound;
      }
      config = *given;
    }
    if (is_digest(source)) {
      auto raised = raise(entry, source, nullptr, json::object());
      if (!raised) return raised.error();
      add(entry.key(), '+', title + " serves " + source, "Deployment/up", *raised);
    } else if (!unstaged) {
      add(entry.key(), '+', "a revision of " + title + " from " + source, "Revision/stage",
          {{"environment", plan_.environment}, {"bundle", entry.bundle}, {"source", source}, {"config", write(config)}},
          true);
    }
    if (entry.status == "paused") add(entry.key(), '~', title + " is paused", "Deployment/pause", {}, true);
    return {};
  }

  Result<void> plan_changed(const BundleEntry& entry, const DeploymentFound& found) {
    const json::object now = to_json(deployment_document(states_, found)).as_object();
    const std::string title = entry.bundle + " for " + entry.customer;
    json::object input{{"deployment", found.id.text()}};
    auto differs = [&](const char* field) {
      const json::value* wanted = entry.fields.if_contains(field);
      return wanted != nullptr && *wanted != now.at(field);
    };
    auto routed_otherwise = wants_other_routes(entry, found.record.route);
    if (!routed_otherwise) return routed_otherwise.error();
    auto take = [&](std::initializer_list<const char*> names) {
      for (const char* name : names) {
        if (const json::value* value = entry.input.if_contains(name)) input[name] = *value;
      }
    };
    std::string what;
    auto say = [&](const char* text) { what += (what.empty() ? "" : ", ") + std::string(text); };
    if (*routed_otherwise) {
      take({"hosts", "pathPrefixes", "tenant", "team"});
      say("routes");
    }
    if (differs("revenue_share")) {
      take({"parties"});
      say("shares");
    }
    if (differs("config_overrides")) {
      take({"configOverrides"});
      say("overrides");
    }
    const bool paused = (entry.status.empty() ? now.at("status") : json::value(entry.status)) == json::value("paused");
    if (input.size() > 1) add(entry.key(), '~', what + " of " + title, "Deployment/update", std::move(input));
    if (!entry.status.empty() && json::value(entry.status) != now.at("status")) {
      const bool archives = entry.status == "archived";
      std::string action = entry.status == "active" ? "resume" : archives ? "archive" : "pause";
      add(entry.key(), archives ? '-' : '~', title + " is " + entry.status, "Deployment/" + action,
          {{"deployment", found.id.text()}});
    }
    // A paused deployment serves nothing: what it is to serve is looked at when it is resumed.
    if (!is_digest(entry.source) || paused || entry.status == "archived") return {};
    return plan_served(entry, found);
  }

  // What serves, compared with the archive and the settings of the file.
  Result<void> plan_served(const BundleEntry& entry, const DeploymentFound& found) {
    const std::string leading = leading_revision(states_, found.id.text());
    auto record = leading.empty() ? std::nullopt : states_.revision().get(revision::RevisionId(leading));
    auto raised = raise(entry, entry.source, record ? &*record : nullptr,
                        record ? running_of(found.record, *record) : json::object());
    if (!raised) return raised.error();
    const bool same = record && entry.source.substr(0, entry.source.find(',')) == record->bundleDigest &&
                      (!raised->contains("set") || is_same_config(*raised, record->config)) &&
                      !raised->contains("running");
    const std::string title = entry.bundle + " for " + entry.customer;
    if (!same) add(entry.key(), '~', title + " serves " + entry.source, "Deployment/up", *raised);
    return {};
  }

  static bool is_same_config(const json::object& raised, const std::string& config) {
    return parse_json(text_of(raised, "set")).value().root == json::value(part_of(config, "non_secret")) &&
           parse_json(text_of(raised, "runtimeRefs")).value().root == json::value(part_of(config, "runtime_refs"));
  }

  static std::string text_of(const json::object& input, const char* name) {
    return std::string(input.at(name).as_string());
  }

  static json::object part_of(const std::string& config, const char* name) {
    auto asked = parse_json(config.empty() ? "{}" : config);
    const json::value* part = asked && asked->root.is_object() ? asked->root.get_object().if_contains(name) : nullptr;
    return part != nullptr && part->is_object() ? part->get_object() : json::object();
  }

  // What brings it to serve an archive with the settings of the file, and no others. `before` serves now, and runs as
  // `running` says: what the file does not say of that stays, and only a difference is part of the input.
  Result<json::object> raise(const BundleEntry& entry, const std::string& source,
                             const revision::RevisionRecord* before, const json::object& running) const {
    const size_t comma = source.find(',');
    json::object plain, refs, runs = running;
    if (const json::value* given = entry.fields.if_contains("config"); given != nullptr && !given->is_null()) {
      if (auto sound = check_fields_of<FileConfig>(file_, entry.path + "/config", *given); !sound) {
        return sound.error();
      }
      for (auto [name, part] : {std::pair{"non_secret", &plain}, {"runtime_refs", &refs}}) {
        const json::value* values = given->get_object().if_contains(name);
        if (values == nullptr) continue;
        if (!values->is_object()) return wrong(file_, entry.path + "/config/" + name, "expected an object");
        *part = values->get_object();
      }
      if (const json::value* said = given->get_object().if_contains("running"); said != nullptr && !said->is_null()) {
        if (auto sound = read_run_settings(*said); !sound) {
          return wrong(file_, entry.path + "/config/running" + sound.error().path, sound.error().message);
        }
        for (const auto& each : said->get_object()) {
          if (!each.value().is_null()) runs[each.key()] = each.value();
        }
      }
    } else if (before != nullptr) {
      plain = part_of(before->config, "non_secret");
      refs = part_of(before->config, "runtime_refs");
    }
    // What the environment answers in the same way is no answer of the deployment's own.
    for (const auto& each : environment_answers(states_, plan_.environment, entry.bundle)) {
      const json::value* same = plain.if_contains(each.key());
      const bool own = before != nullptr && part_of(before->config, "non_secret").contains(each.key());
      if (same != nullptr && *same == each.value() && !own) plain.erase(each.key());
    }
    json::array unset;
    if (before != nullptr) {
      for (const char* name : {"non_secret", "runtime_refs"}) {
        for (const auto& each : part_of(before->config, name)) {
          if (!plain.contains(each.key()) && !refs.contains(each.key())) unset.emplace_back(each.key());
        }
      }
    }
    json::object input{{"environment", plan_.environment},
                       {"archive", source.substr(0, comma)},
                       {"customer", entry.customer},
                       {"set", write(plain)},
                       {"runtimeRefs", write(refs)},
                       {"unset", std::move(unset)},
                       {"keepRoutes", true}};
    if (comma != std::string::npos) input["signature"] = source.substr(comma + 1);
    if (runs != running) input["running"] = write(runs);
    return input;
  }

  // Routes are compared as they would be kept.
  Result<bool> wants_other_routes(const BundleEntry& entry, const deployment::DeploymentRoute& now) const {
    const RouteBinding is{now.hosts, now.pathPrefixes, now.tenant, now.team};
    RouteBinding wanted = is;
    for (auto [name, list] : {std::pair{"hosts", &wanted.hosts}, {"pathPrefixes", &wanted.path_prefixes}}) {
      const json::value* given = entry.input.if_contains(name);
      if (given == nullptr) continue;
      list->clear();
      for (const json::value& each : given->get_array()) list->emplace_back(each.get_string());
    }
    for (auto [name, text] : {std::pair{"tenant", &wanted.tenant}, {"team", &wanted.team}}) {
      if (const json::value* given = entry.input.if_contains(name)) *text = std::string(given->get_string());
    }
    auto normal = normal_binding(wanted);
    if (!normal) return wrong(file_, entry.path + "/route_binding", normal.error().message);
    return *normal != is;
  }

  void plan_removed(const DeploymentFound& found) {
    const std::string title = found.record.bundle + " for " + found.record.customer;
    const std::string& id = found.id.text();
    if (split_document(states_, found)) {
      add({found.record.bundle, found.record.customer}, '-', "the traffic of " + title, "Traffic/clear",
          {{"deployment", id}});
    }
    for (const auto& each : live_revisions_of(states_, id)) {
      add({found.record.bundle, found.record.customer}, '-',
          found.record.bundle + "@" + std::to_string(each.record.sequence) + " of " + title, "Revision/archive",
          {{"revision", each.id.text()}});
    }
    add({found.record.bundle, found.record.customer}, '-', title, "Deployment/remove", {{"deployment", id}});
  }

  const States& states_;
  const Document& file_;
  EnvironmentPlan& plan_;
};

}  // namespace

Result<void> plan_bundles(const States& states, const Document& file, bool prune, EnvironmentPlan& plan) {
  const json::value* wanted = file.root.as_object().if_contains("bundles");
  if (wanted == nullptr) return {};
  return BundlesPlanner(states, file, plan).run(*wanted, prune);
}

ExportedBundle exported_bundle(const States& states, const DeploymentFound& found) {
  DeploymentDocument document = deployment_document(states, found);
  OrNull<std::string> source;
  json::value config;
  json::object running;
  const std::string leading = leading_revision(states, found.id.text());
  auto serves = leading.empty() ? std::nullopt : states.revision().get(revision::RevisionId(leading));
  if (serves && !serves->bundleDigest.empty()) {
    source = serves->bundleDigest;
    if (auto asked = parse_json(serves->config); asked && asked->root.is_object()) config = asked->root;
    running = running_of(found.record, *serves);
    settle(states, *serves, config);
  } else if (auto newest = newest_of(states, found.id.text())) {
    source = (is_digest(newest->record.source) ? "" : std::string(kFile)) + newest->record.source;
    if (auto asked = parse_json(newest->record.config); asked && asked->root.is_object()) config = asked->root;
    running = running_of(found.record, newest->record);
    settle(states, newest->record, config);
  }
  if (config.is_object()) config.get_object().erase("running");
  if (!running.empty()) {
    if (!config.is_object()) config = json::object();
    config.get_object()["running"] = std::move(running);
  }
  return {.bundle_id = document.bundle_id,
          .customer_id = document.customer_id,
          .status = document.status,
          .route_binding = std::move(document.route_binding),
          .revenue_share = std::move(document.revenue_share),
          .config_overrides = std::move(document.config_overrides),
          .bundle_source_uri = std::move(source),
          .config = std::move(config)};
}

}  // namespace sluice::deploy::views
