// Answers are read as their questions want them: the manifest is at hand.
#include "cli/staging.h"

#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>

#include "base/json.h"
#include "bundle/archive/inspect.h"
#include "cli/action_command.h"
#include "cli/asking.h"
#include "cli/call_options.h"
#include "deploy/pack_config.h"
#include "deploy/views/bundle_settings.h"
#include "deploy/views/documents.h"
#include "deploy/views/names.h"
#include "deploy/views/secrets.h"

namespace sluice::cli {
namespace {

Error no_pair(const std::string& option, const std::string& word) {
  return {.code = Code::usage, .message = "--" + option + " is name=value, not '" + printable(word) + "'"};
}

// A text for questions that want one, else JSON.
Result<json::value> answer_from(const bundle::Manifest& manifest, const std::string& name, const std::string& text) {
  auto question = std::ranges::find_if(manifest.config, [&](const auto& each) { return each.name.text == name; });
  if (question == manifest.config.end() || question->type == bundle::AnswerType::string) return json::value(text);
  auto parsed = parse_json(text);
  if (!parsed) return Error{.code = Code::usage, .message = "--set " + name + ": " + parsed.error().message};
  return parsed->root;
}

const bundle::Question* find_question(const bundle::Manifest& manifest, std::string_view name) {
  auto found = std::ranges::find_if(manifest.config, [&](const auto& each) { return each.name.text == name; });
  return found == manifest.config.end() ? nullptr : &*found;
}

std::string secret_name(const ArchiveToStage& archive, const bundle::Question& question) {
  return archive.bundle + "/" + bundle::secret_variable(question);
}

// What is known without being said: the environment's answers, and what the deployment has already.
Result<json::object> known_answers(CommandDoor& door, const std::string& environment, const ArchiveToStage& archive,
                                   const std::string& customer) {
  auto config = door.read<deploy::views::ConfigDocument>("config", {{"environment", environment}});
  if (!config) return config.error();
  json::object known;
  for (const auto& each : config->answers) {
    if (each.bundle == archive.bundle) known[each.name] = each.value;
  }
  for (const deploy::views::DeploymentSettings& each : config->deployments) {
    if (each.bundle != archive.bundle || (!customer.empty() && each.customer != customer)) continue;
    for (const deploy::views::SettingView& one : each.settings) {
      using enum deploy::views::SettingOwner;
      if (one.owner == setup || one.owner == runtime) known[one.name] = one.value;
    }
  }
  return known;
}

Result<bool> is_kept(CommandDoor& door, const std::string& environment, const std::string& name) {
  auto all = door.read<std::vector<deploy::views::ListedSecret>>("secrets", {{"environment", environment}});
  if (!all) return all.error();
  return std::ranges::any_of(*all, [&](const auto& each) { return each.name == name && each.version; });
}

void write_config(ArchiveToStage& archive) {
  archive.config = write(json::object{{"non_secret", archive.answers}, {"runtime_refs", archive.references}});
}

// What the command line says of its config.
Result<ArchiveToStage> with_config(Context& context, ArchiveToStage archive) {
  archive.bundle = archive.manifest.name.text;
  for (const std::string& word : context.given.texts("set")) {
    size_t equals = word.find('=');
    if (equals == std::string::npos) return no_pair("set", word);
    const bundle::Question* question = find_question(archive.manifest, word.substr(0, equals));
    if (question != nullptr && question->secret && !word.substr(equals + 1).starts_with("secret://")) {
      return secret_on_command_line(question->name.text, "ENV", secret_name(archive, *question));
    }
    auto answer = answer_from(archive.manifest, word.substr(0, equals), word.substr(equals + 1));
    if (!answer) return answer.error();
    archive.answers[word.substr(0, equals)] = *std::move(answer);
  }
  for (const std::string& word : context.given.texts("runtime-ref")) {
    size_t equals = word.find('=');
    if (equals == std::string::npos) return no_pair("runtime-ref", word);
    archive.references[word.substr(0, equals)] = word.substr(equals + 1);
  }
  write_config(archive);
  return archive;
}

}  // namespace

bool names_registry(const Context& context) { return context.given.text("file").starts_with("oci://"); }

Result<ArchiveToStage> registry_to_stage(Context& context, CommandDoor& door, const std::string& environment) {
  const std::string reference = context.given.text("file");
  auto answer = door.call("Registry/pull", {{"environment", environment}, {"reference", reference}},
                          host::WaitFor::answer, "pull");
  if (!answer) return answer.error();
  if (answer->code != Code::ok) {
    Error error = door.refusal(*answer);
    if (answer->variant == "rejected") {
      const std::string host = reference.substr(6, reference.find('/', 6) - 6);
      error.next = "sluice registry login " + environment + " " + host + " --username NAME";
    }
    return error;
  }
  context.output.note("pulled " + reference + ", " + answer->text("digest"));
  auto manifest =
      bundle::parse_manifest(answer->text("manifest"), reference + "!" + std::string(bundle::kManifestName));
  if (!manifest) return manifest.error();
  return with_config(context,
                     {.path = answer->text("source"), .manifest = *std::move(manifest), .tree = answer->text("tree")});
}

std::vector<Option> staging_options() {
  return {
      {.name = "set", .value = "NAME=VALUE", .help = "an answer to what the bundle asks", .repeated = true},
      {.name = "runtime-ref", .value = "NAME=REF", .help = "a runtime://ENV/discovered/… reference", .repeated = true},
      {.name = "drain-seconds", .value = "N", .help = "how many seconds it may drain", .kind = Kind::count}};
}

Option unset_option() {
  return {.name = "unset", .value = "NAME", .help = "forget this answer of the previous version", .repeated = true};
}

Result<ArchiveToStage> archive_to_stage(Context& context) {
  return archive_to_stage(context, context.given.text("file"));
}

Result<ArchiveToStage> archive_to_stage(Context& context, const std::string& file) {
  std::error_code ignored;
  ArchiveToStage archive{.path = std::filesystem::absolute(file, ignored).lexically_normal().string()};
  auto stat = context.disk.stat(archive.path, FollowLinks::yes);
  if (!stat) return stat.error();
  if (stat->kind == FileKind::folder) {
    return Error{.code = Code::invalid,
                 .message = file + " is a folder; what is staged is a signed archive",
                 .next = "sluice bundles build " + file + " --out NAME.bundle"};
  }
  auto inspected = bundle::inspect_archive(context.disk, archive.path);
  if (!inspected) return inspected.error();
  auto manifest = bundle::manifest_of(*inspected, file);
  if (!manifest) return manifest.error();
  archive.tree = "sha256:" + inspected->tree.digest();
  archive.manifest = *std::move(manifest);
  return with_config(context, std::move(archive));
}

Result<void> take_answers(Context& context, ArchiveToStage& archive, const std::string& action) {
  auto said = with_answers(context, {});
  if (!said) return said.error();
  if (!action.empty()) {
    for (const ActionParam& each : params_of(action)) said->erase(each.name);
  }
  if (said->empty()) return {};
  for (const auto& each : *said) {
    if (find_question(archive.manifest, each.key()) == nullptr) {
      auto unknown = bundle::complete_answers(bundle::Questions(archive.manifest.config), {{each.key(), each.value()}});
      if (!unknown) return unknown.error();
    }
    if (!archive.answers.contains(each.key())) archive.answers[each.key()] = each.value();
  }
  write_config(archive);
  return {};
}

bool print_questions(Context& context, const bundle::Manifest& manifest) {
  if (manifest.config.empty()) return false;
  context.output.print(bundle::answers_schema(manifest.config, manifest.name.text),
                       [&](const Terminal& terminal) { return questions_table(manifest.config, terminal); });
  return true;
}

Result<void> ask_open(Context& context, CommandDoor& door, const std::string& environment, ArchiveToStage& archive) {
  if (archive.manifest.config.empty()) return {};
  auto keep = [&](const std::string& name, const std::string& value) -> Result<std::string> {
    return keep_secret(door, environment, secret_name(archive, *find_question(archive.manifest, name)), value);
  };
  // A file of answers may have secrets in it: they are kept, and the bundle finds them where it looks.
  auto kept_answers = keep_secret_answers(
      archive.manifest.config, archive.answers,
      [&](const bundle::Question& each, const std::string& value) { return keep(each.name.text, value); });
  if (!kept_answers) return kept_answers.error();
  const Output::Settings& settings = context.output.settings();
  if (settings.in.tty && settings.err.tty) {
    auto known = known_answers(door, environment, archive, context.given.text("customer-id"));
    if (!known) return known.error();
    for (const auto& each : archive.references) (*known)[each.key()] = each.value();
    for (const auto& each : archive.answers) (*known)[each.key()] = each.value();
    std::vector<bundle::Question> open;
    for (const bundle::Question& each : archive.manifest.config) {
      if (each.default_ || !each.required || known->contains(each.name.text)) continue;
      if (!bundle::is_visible(each, archive.manifest.config, *known)) continue;
      if (each.secret) {
        auto kept = is_kept(door, environment, secret_name(archive, each));
        if (!kept) return kept.error();
        if (*kept) continue;
      }
      open.push_back(each);
      open.back().visible_if.reset();
    }
    if (!open.empty()) {
      auto answers = ask(context, {.questions = open, .what = archive.bundle, .given = {}, .keep_secret = keep});
      if (!answers) return answers.error();
      for (const bundle::Question& each : open) {
        const json::value* answer = each.secret ? nullptr : answers->if_contains(each.name.text);
        if (answer != nullptr) archive.answers[each.name.text] = *answer;
      }
    }
  }
  write_config(archive);
  return {};
}

Result<void> check_config(const ArchiveToStage& archive, const std::string& environment, const std::string& overrides,
                          const std::string& config) {
  auto resolved = deploy::resolve_config(archive.manifest, {environment, config, overrides});
  if (resolved) return {};
  Error error = resolved.error();
  error.message = "runtime-config: " + error.message + "; nothing was changed";
  error.next = "sluice bundles inspect " + archive.path;
  return error;
}

namespace {

// What was asked for, with what the deployment has already and what its environment answers, as staging will take it.
Result<std::string> carried_now(CommandDoor& door, const deploy::views::DeploymentDocument& deployment,
                                const ArchiveToStage& archive, const std::string& config,
                                const std::vector<std::string>& unset) {
  auto known = known_answers(door, deployment.env_id, archive, deployment.customer_id);
  if (!known) return known.error();
  const std::string before = write(json::object{{"non_secret", *std::move(known)}});
  return deploy::carried_config(archive.manifest, before, config, unset);
}

}  // namespace

Result<Code> stage_archive(Context& context, CommandDoor& door, const deploy::views::DeploymentDocument& deployment,
                           const ArchiveToStage& archive, std::string_view part) {
  const std::string& environment = deployment.env_id;
  json::object input{{"deployment", deployment.deployment_id},
                     {"environment", environment},
                     {"bundle", deployment.bundle_id},
                     {"source", archive.path},
                     {"config", archive.config}};
  if (auto seconds = context.given.number("drain-seconds")) input["drainSeconds"] = *seconds;
  const std::vector<std::string> unset = part.empty() ? context.given.texts("unset") : std::vector<std::string>();
  if (part.empty()) input["unset"] = to_json(unset);
  if (part.empty()) expect_generation_as(context, "deploymentGeneration", input);
  // Of several calls of one command the answers are the first one's.
  auto full = part.empty() ? with_answers(context, std::move(input)) : std::move(input);
  if (!full) return full.error();
  if (const json::value* config = full->if_contains("config");
      part.empty() && config != nullptr && config->is_string()) {
    auto carried = carried_now(door, deployment, archive, std::string(config->get_string()), unset);
    if (!carried) return carried.error();
    auto sound = check_config(archive, environment, write(deployment.config_overrides), *carried);
    if (!sound) return sound.error();
  }
  auto answer = door.call("Revision/stage", *full, host::WaitFor::all, part);
  if (!answer) return answer.error();
  const std::string revision = answer->text("revision");
  if (answer->code != Code::ok) {
    Error error = door.refusal(*answer);
    if (!revision.empty()) {
      const std::string again = "sluice revisions stage " + environment + " " + shell_word(context.given.text("file")) +
                                " --deployment " + deployment.deployment_id;
      error.next = (answer->variant == "unverified" ? "trust its key or have a trusted key sign it, and then: "
                                                    : "change the bundle or its settings, and then: ") +
                   again;
    }
    return error;
  }
  const std::string name = deployment.bundle_id + "@" + write(answer->fields.at("sequence"));
  json::object shown = answer->fields;
  shown["deployment"] = deployment.deployment_id;
  shown["flow"] = to_string(*answer->flow);
  context.output.print(shown, [&](const Terminal& terminal) {
    return terminal.paint(Style::good, "staged") + "  " + name + " (" + revision + ") of " + deployment.deployment_id +
           "\n";
  });
  if (answer->text("signature") != "verified") {
    context.output.warn(name + " is not verified: " + answer->text("signature"));
  }
  const bool unique =
      door.view("names",
                {{"environment", environment}, {"about", "revisions"}, {"revisions", json::array{json::value(name)}}})
          .has_value();
  context.output.note("next: sluice revisions warm " + environment + " " + (unique ? name : revision));
  return Code::ok;
}

}  // namespace sluice::cli
