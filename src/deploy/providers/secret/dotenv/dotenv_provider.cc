// The secret hello/api_key is the variable HELLO_API_KEY of the file.
#include "base/atomic_file.h"
#include "deploy/dotenv.h"
#include "deploy/providers/secret/dotenv/dotenv_provider_work.h"
#include "deploy/secret_names.h"
#include "deploy/value_versions.h"
#include "deploy/views/answers.h"

namespace sluice::deploy::dotenv_provider {
namespace {

constexpr size_t kMaxFileBytes = 4 << 20;

struct Found {
  std::string variable;
  std::optional<std::string> value;
  std::string version;
};
struct NoFile {
  std::string file;
  std::string message;
};
struct Fault {
  std::string file;
  int64_t line = 0;
  std::string message;
};
using Looked = std::variant<Found, NoFile, Fault, Error>;

Looked look(const std::string& environment, const std::string& name, Effect& effect) {
  auto& disk = effect.tool<Disk>();
  auto answers = views::answers_of_slot(effect.read(), disk, environment, "secrets");
  if (!answers) return answers.error();
  const std::string file = answers->text("file");
  if (file.empty()) return NoFile{"", "the answers of the secrets pack of " + environment + " name no `file`"};
  auto text = read_file(disk, file, kMaxFileBytes);
  if (!text && text.error().code == Code::not_found) return NoFile{file, "there is no file " + file};
  if (!text) return text.error();
  auto parsed = parse_dotenv(*text);
  if (const auto* fault = std::get_if<DotenvFault>(&parsed)) {
    return Fault{file, fault->line, file + ":" + std::to_string(fault->line) + ": " + fault->what};
  }
  Found found{.variable = variable_of_secret(name)};
  const auto& all = std::get<0>(parsed);
  auto value = all.find(found.variable);
  if (value == all.end()) return found;
  found.value = value->second;
  auto version = effect.tool<ValueVersions>().of(environment, name, *found.value);
  if (!version) return version.error();
  found.version = *std::move(version);
  return found;
}

// What both actions say of a file that cannot be used.
template <class Action>
std::optional<typename Action::Performed> trouble(const std::string& name, const Looked& looked) {
  if (const auto* none = std::get_if<NoFile>(&looked)) {
    return typename Action::FileNotFound{.name = name, .file = none->file, .message = none->message};
  }
  if (const auto* fault = std::get_if<Fault>(&looked)) {
    return
        typename Action::ParseError{.name = name, .file = fault->file, .line = fault->line, .message = fault->message};
  }
  if (const auto* error = std::get_if<Error>(&looked)) return lang::Again{.reason = to_string(*error)};
  return std::nullopt;
}

}  // namespace

Fetch::Begun DotenvProvider::begin_fetch(const Fetch& ask, State&) {
  return FetchWork{.environment = ask.environment, .name = ask.name, .version = ask.version};
}

Fetch::Performed DotenvProvider::perform_fetch(const FetchWork& work, Effect& effect) {
  const Looked looked = look(work.environment, work.name, effect);
  if (auto told = trouble<Fetch>(work.name, looked)) return *std::move(told);
  const Found& found = std::get<Found>(looked);
  if (!found.value) {
    return Fetch::VariableNotSet{.name = work.name,
                                 .variable = found.variable,
                                 .message = "the file has no variable " + found.variable + " for " + work.name};
  }
  if (work.version && *work.version != found.version) {
    return Fetch::Changed{.name = work.name,
                          .message = "the variable " + found.variable + " has another value than version " +
                                     *work.version + " of " + work.name};
  }
  return Fetch::Ok{.version = found.version, .value = effect.seal(*found.value)};
}

Fetch::Outcome DotenvProvider::finish_fetch(const Fetch& ask, const Fetch::Outcome& outcome, State& state) {
  if (const auto* ok = get_if<Fetch::Ok>(&outcome)) {
    state.put(DotenvProviderId(ask.environment + "/" + ask.name), {.version = ok->version});
  }
  return outcome;
}

Head::Begun DotenvProvider::begin_head(const Head& ask, State&) {
  return HeadWork{.environment = ask.environment, .name = ask.name};
}

Head::Performed DotenvProvider::perform_head(const HeadWork& work, Effect& effect) {
  const Looked looked = look(work.environment, work.name, effect);
  if (auto told = trouble<Head>(work.name, looked)) return *std::move(told);
  const Found& found = std::get<Found>(looked);
  if (!found.value) return Head::Ok{.exists = false};
  return Head::Ok{.exists = true, .version = found.version};
}

Head::Outcome DotenvProvider::finish_head(const Head&, const Head::Outcome& outcome, State&) { return outcome; }

}  // namespace sluice::deploy::dotenv_provider
