// The OCI distribution specification, version 1.1, as far as pushing and pulling need it.
#include "oci/registry.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>

#include "base/json.h"
#include "base/terminal.h"
#include "crypto/base64.h"
#include "crypto/sha256.h"

namespace sluice::oci {
namespace {

namespace json = boost::json;

constexpr int kOk = 200, kCreated = 201, kAccepted = 202, kNoContent = 204, kPartial = 206;
constexpr int kUnauthorized = 401, kForbidden = 403, kNotFound = 404, kTooMany = 429;
constexpr uint64_t kChunk = 32 << 20;
constexpr int kAttempts = 5;  // without progress
constexpr int kMostRedirects = 5;
constexpr size_t kMaxAnswer = 1 << 20;
constexpr int64_t kPiece_ms = 60'000;  // the longest silence

std::string accepted() {
  return std::string(kManifestType) + ", " + std::string(kIndexType) + ", " + std::string(kDockerManifestType) + ", " +
         std::string(kDockerIndexType);
}

bool is_ours_to_repeat(const Error& error) { return error.code == Code::unavailable || error.code == Code::timeout; }

// What a registry says of a refusal: "NAME_UNKNOWN: repository name not known to registry".
std::string said_in(const std::string& body) {
  auto document = parse_json_value(body);
  if (!document || !document->is_object()) return "";
  const json::value* errors = document->get_object().if_contains("errors");
  if (errors == nullptr || !errors->is_array() || errors->get_array().empty()) return "";
  const json::value& first = errors->get_array().front();
  std::string text;
  for (const char* name : {"code", "message"}) {
    const json::value* value = first.is_object() ? first.get_object().if_contains(name) : nullptr;
    if (value == nullptr || !value->is_string()) continue;
    text += (text.empty() ? "" : ": ") + printable(std::string(value->get_string()).substr(0, 200));
  }
  return text.empty() ? "" : " (" + text + ")";
}

std::string origin_of(const std::string& text) {
  auto url = http::parse_url(text);
  if (!url) return "";
  url->target = "/";
  return http::shown_url(*url);
}

bool is_header_text(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

}  // namespace

std::string Registry::url(const std::string& rest) const {
  return base_url(reference_.host) + "/v2/" + reference_.repository + "/" + rest;
}

Error Registry::refusal(const http::OutgoingAnswer& answer, const std::string& what) const {
  const std::string said = said_in(answer.body);
  switch (answer.status) {
    case kUnauthorized:
      return {.code = Code::unauthenticated,
              .message =
                  reference_.host + (login_ ? " does not take the login for " : " wants a login for ") + what + said};
    case kForbidden:
      return {.code = Code::denied, .message = reference_.host + " does not allow " + what + said};
    case kNotFound:
      return {.code = Code::not_found, .message = reference_.host + " has no " + what + said};
    default:
      return {.code = answer.status >= 500 || answer.status == kTooMany ? Code::unavailable : Code::failed,
              .message = reference_.host + " answered " + std::to_string(answer.status) + " for " + what + said};
  }
}

// A token of the server that the challenge names, or the login itself.
Result<void> Registry::authenticate(const http::OutgoingAnswer& answer) {
  const std::string* header = answer.header("WWW-Authenticate");
  auto challenge = header != nullptr ? parse_challenge(*header) : std::nullopt;
  if (!challenge) {
    return Error{.code = Code::unauthenticated,
                 .message = reference_.host + " wants a login, and does not say of which kind"};
  }
  if (!challenge->bearer) {
    if (!login_) return refusal(answer, to_string(reference_));
    authorization_ = "Basic " + crypto::to_base64(to_string(*login_));
    return {};
  }
  auto realm = http::parse_url(challenge->realm);
  if (!realm || (!realm->tls && !(is_loopback(reference_.host) && is_loopback(realm->host)))) {
    return Error{.code = Code::denied,
                 .message = reference_.host + " names a token server that is none, or is not asked over TLS"};
  }
  if (login_ && !may_login_at(reference_.host, challenge->realm)) {
    return Error{.code = Code::denied,
                 .message = reference_.host + " wants its password sent to " + printable(realm->host) +
                            ", which is another party's; it was not sent"};
  }
  std::string scope = challenge->scope;
  if (scope.empty()) scope = "repository:" + reference_.repository + ":pull,push";
  const bool has_query = challenge->realm.find('?') != std::string::npos;
  http::OutgoingRequest ask{.url = challenge->realm + (has_query ? "&" : "?") + "service=" +
                                   http::percent_encoded(challenge->service) + "&scope=" + http::percent_encoded(scope),
                            .most_bytes = kMaxAnswer,
                            .cancelled = watch_.cancelled};
  if (login_) ask.headers.push_back({"Authorization", "Basic " + crypto::to_base64(to_string(*login_))});
  auto got = outgoing_.send(ask);
  if (!got) return got.error();
  if (got->status != kOk) return refusal(*got, to_string(reference_));
  auto document = parse_json_value(got->body);
  for (const char* name : {"token", "access_token"}) {
    const json::value* token = document && document->is_object() ? document->get_object().if_contains(name) : nullptr;
    if (token == nullptr || !token->is_string() || !is_header_text(std::string_view(token->get_string()))) continue;
    authorization_ = "Bearer " + std::string(token->get_string());
    return {};
  }
  return Error{.code = Code::unavailable, .message = "the token server of " + reference_.host + " gave no token"};
}

// With the authorization that there is, and once more with a new one. GETs follow redirects, without it if they lead
// elsewhere. An upload is not sent twice: whoever uploads goes on where the registry says.
Result<http::OutgoingAnswer> Registry::send(http::OutgoingRequest request) {
  const std::string own = origin_of(base_url(reference_.host));
  const std::vector<http::Header> headers = request.headers;
  request.cancelled = watch_.cancelled;
  bool asked = false;
  for (int redirects = 0;;) {
    request.headers = headers;
    const bool ours = origin_of(request.url) == own;
    if (ours && !authorization_.empty()) request.headers.push_back({"Authorization", authorization_});
    auto answer = outgoing_.send(request);
    if (!answer) return answer;
    if (answer->status == kUnauthorized && ours && !asked) {
      if (auto authorized = authenticate(*answer); !authorized) return authorized.error();
      asked = true;
      if (request.upload) return answer;
      continue;
    }
    const bool moved = answer->status > 300 && answer->status < 309 && answer->status != 304;
    if (!moved || request.method != "GET") return answer;
    if (++redirects > kMostRedirects) {
      return Error{.code = Code::unavailable, .message = reference_.host + " redirects without end"};
    }
    auto to = location(*answer, request.url);
    if (!to) return to.error();
    if (request.url.starts_with("https://") && !to->starts_with("https://")) {
      return Error{.code = Code::denied, .message = reference_.host + " leads away from TLS; it was not followed"};
    }
    request.url = *to;
  }
}

Result<std::string> Registry::location(const http::OutgoingAnswer& answer, const std::string& from) const {
  const std::string* header = answer.header("Location");
  std::string to = header != nullptr ? *header : "";
  if (to.starts_with('/') && !to.starts_with("//")) {
    std::string origin = origin_of(from);
    origin.pop_back();
    to = origin + to;
  }
  if (auto url = http::parse_url(to); !url) {
    return Error{.code = Code::unavailable, .message = reference_.host + " leads nowhere: its Location is no URL"};
  }
  return to;
}

Result<void> Registry::check() {
  auto answer = send({.url = base_url(reference_.host) + "/v2/", .most_bytes = kMaxAnswer});
  if (!answer) return answer.error();
  if (answer->status != kOk) return refusal(*answer, "its API");
  return {};
}

// ------------------------------------------------------------------------------------------------------- manifests

Result<Registry::Fetched> Registry::manifest(const std::string& tag_or_digest) {
  const std::string name =
      reference_.repository + (tag_or_digest.find(':') == std::string::npos ? ":" : "@") + tag_or_digest;
  auto answer = send(
      {.url = url("manifests/" + tag_or_digest), .headers = {{"Accept", accepted()}}, .most_bytes = kMaxManifestBytes});
  if (!answer) return answer.error();
  if (answer->status != kOk) return refusal(*answer, name);
  Fetched fetched{.bytes = std::move(answer->body)};
  fetched.digest = crypto::to_string(crypto::sha256(fetched.bytes));
  if (tag_or_digest.find(':') != std::string::npos && fetched.digest != tag_or_digest) {
    return Error{.code = Code::verification_failed,
                 .message = "what " + reference_.host + " has as " + name + " has the digest " + fetched.digest};
  }
  const std::string* type = answer->header("Content-Type");
  fetched.media_type = type != nullptr ? type->substr(0, type->find(';')) : "";
  return fetched;
}

Result<std::string> Registry::put_manifest(const std::string& tag_or_digest, const std::string& bytes,
                                           std::string_view media_type) {
  auto answer = send({.method = "PUT",
                      .url = url("manifests/" + tag_or_digest),
                      .headers = {{"Content-Type", std::string(media_type)}},
                      .body = bytes,
                      .most_bytes = kMaxAnswer});
  if (!answer) return answer.error();
  if (answer->status != kCreated) return refusal(*answer, "a push to " + reference_.repository);
  return crypto::to_string(crypto::sha256(bytes));
}

// ----------------------------------------------------------------------------------------------------------- blobs

Result<bool> Registry::has_blob(const std::string& digest) {
  auto answer = send({.method = "HEAD", .url = url("blobs/" + digest)});
  if (!answer) return answer.error();
  if (answer->status == kOk) return true;
  if (answer->status == kNotFound) return false;
  return refusal(*answer, reference_.repository);
}

Result<void> Registry::push_blob(File& file, const Descriptor& descriptor) {
  return push(
      [&](uint64_t at, size_t most) -> Result<std::string> {
        std::string piece(most, '\0');
        auto got = file.read_at(at, piece);
        if (!got) return got.error();
        piece.resize(*got);
        return piece;
      },
      descriptor);
}

Result<void> Registry::push_blob(const std::string& bytes, const Descriptor& descriptor) {
  return push([&](uint64_t at, size_t most) -> Result<std::string> { return bytes.substr(at, most); }, descriptor);
}

Result<void> Registry::push(const Read& read, const Descriptor& descriptor) {
  auto there = has_blob(descriptor.digest);
  if (!there) return there.error();
  if (*there) return {};
  for (int attempt = 1;; ++attempt) {
    auto pushed = push_once(read, descriptor);
    if (pushed || !is_ours_to_repeat(pushed.error()) || attempt == kAttempts) return pushed;
  }
}

// One upload, chunk by chunk. After a broken connection the registry says how far it has come.
Result<void> Registry::push_once(const Read& read, const Descriptor& descriptor) {
  const std::string what = "a push to " + reference_.repository;
  const std::string start = url("blobs/uploads/");
  auto begun = send({.method = "POST", .url = start, .most_bytes = kMaxAnswer});
  if (!begun) return begun.error();
  if (begun->status != kAccepted) return refusal(*begun, what);
  auto next = location(*begun, start);
  if (!next) return next.error();
  uint64_t sent = 0;
  for (int attempts = 0; sent < descriptor.size;) {
    const uint64_t end = std::min(descriptor.size, sent + kChunk);
    uint64_t at = sent;
    http::OutgoingRequest chunk{.method = "PATCH",
                                .url = *next,
                                .headers = {{"Content-Type", "application/octet-stream"},
                                            {"Content-Range", std::to_string(sent) + "-" + std::to_string(end - 1)}},
                                .upload =
                                    [&](size_t most) {
                                      auto piece = read(at, most);
                                      if (piece) at += piece->size();
                                      if (piece && watch_.moved) watch_.moved(piece->size());
                                      return piece;
                                    },
                                .upload_bytes = end - sent,
                                .timeout_ms = kPiece_ms,
                                .most_bytes = kMaxAnswer};
    auto answer = send(chunk);
    if (answer && answer->status == kAccepted) {
      auto further = location(*answer, *next);
      if (!further) return further.error();
      next = *std::move(further);
      sent = end;
      attempts = 0;
      continue;
    }
    if (answer && answer->status != kUnauthorized && answer->status < 500) return refusal(*answer, what);
    if (++attempts == kAttempts) return answer ? Result<void>(refusal(*answer, what)) : answer.error();
    if (!answer && !is_ours_to_repeat(answer.error())) return answer.error();
    auto status = send({.url = *next, .most_bytes = kMaxAnswer});
    if (!status) return status.error();
    if (status->status != kNoContent) return refusal(*status, what);
    if (status->header("Location") != nullptr) {
      auto further = location(*status, *next);
      if (!further) return further.error();
      next = *std::move(further);
    }
    // "0-1048575"; of an upload that has nothing yet, "0-0" or none.
    const std::string* range = status->header("Range");
    uint64_t last = 0;
    if (range != nullptr && range->starts_with("0-")) {
      std::from_chars(range->data() + 2, range->data() + range->size(), last);
    }
    const uint64_t has = last == 0 ? 0 : last + 1;
    if (has > descriptor.size)
      return Error{.code = Code::unavailable, .message = reference_.host + " miscounts an upload"};
    if (has > sent) attempts = 0;
    sent = has;
  }
  const std::string end =
      *next + (next->find('?') == std::string::npos ? "?" : "&") + "digest=" + http::percent_encoded(descriptor.digest);
  auto ended = send({.method = "PUT", .url = end, .timeout_ms = kPiece_ms, .most_bytes = kMaxAnswer});
  if (!ended) return ended.error();
  if (ended->status != kCreated) return refusal(*ended, what);
  return {};
}

Result<void> Registry::pull(const Descriptor& descriptor,
                            const std::function<Result<void>(uint64_t, std::string_view)>& keep) {
  const std::string what = reference_.repository + "@" + descriptor.digest;
  crypto::Sha256Stream digest;
  uint64_t got = 0;
  for (int attempts = 0; got < descriptor.size || descriptor.size == 0;) {
    const uint64_t before = got;
    bool goes_on = before > 0;
    std::optional<Error> trouble;
    int status = 0;
    http::OutgoingRequest ask{.url = url("blobs/" + descriptor.digest),
                              .download =
                                  [&](std::string_view piece) {
                                    if (std::exchange(goes_on, false) && status == kOk) {  // it begins anew
                                      digest = crypto::Sha256Stream();
                                      got = 0;
                                    }
                                    if (got + piece.size() > descriptor.size) {
                                      trouble = Error{.code = Code::verification_failed,
                                                      .message = "what " + reference_.host + " has as " + what +
                                                                 " is longer than it should be"};
                                      return false;
                                    }
                                    if (auto kept = keep(got, piece); !kept) {
                                      trouble = kept.error();
                                      return false;
                                    }
                                    digest.update(piece);
                                    got += piece.size();
                                    if (watch_.moved) watch_.moved(piece.size());
                                    return true;
                                  },
                              .downloads =
                                  [&](int answered) {
                                    status = answered;
                                    return answered == kOk || answered == kPartial;
                                  },
                              .timeout_ms = kPiece_ms,
                              .most_bytes = kMaxAnswer};
    if (got > 0) ask.headers.push_back({"Range", "bytes=" + std::to_string(got) + "-"});
    auto answer = send(ask);
    if (trouble) return *trouble;
    if (answer && answer->status != kOk && answer->status != kPartial) {
      Error error = refusal(*answer, what);
      if (error.code != Code::unavailable) return error;
      answer = error;
    }
    if (answer && got == descriptor.size) break;
    if (!answer && !is_ours_to_repeat(answer.error())) return answer.error();
    if (watch_.cancelled && watch_.cancelled())
      return answer ? Error{.code = Code::unavailable, .message = "it was cancelled"} : answer.error();
    attempts = got > before ? 0 : attempts + 1;
    if (attempts == kAttempts) {
      if (!answer) return answer.error();
      return Error{.code = Code::verification_failed,
                   .message = "what " + reference_.host + " has as " + what + " is cut short"};
    }
  }
  if (crypto::to_string(digest.finish()) == descriptor.digest) return {};
  return Error{.code = Code::verification_failed,
               .message = "what " + reference_.host + " has as " + what + " has another digest"};
}

Result<void> Registry::pull_blob(const Descriptor& descriptor, File& file) {
  if (auto emptied = file.truncate(0); !emptied) return emptied;
  return pull(descriptor, [&](uint64_t at, std::string_view piece) { return file.write_at(at, piece); });
}

Result<std::string> Registry::pull_blob(const Descriptor& descriptor, size_t most_bytes) {
  if (descriptor.size > most_bytes) {
    return Error{.code = Code::limit,
                 .message = reference_.repository + "@" + descriptor.digest + " has more than " +
                            std::to_string(most_bytes) + " bytes"};
  }
  std::string bytes;
  auto pulled = pull(descriptor, [&](uint64_t at, std::string_view piece) {
    bytes.resize(at);
    bytes += piece;
    return Result<void>();
  });
  if (!pulled) return pulled.error();
  return bytes;
}

// ------------------------------------------------------------------------------------------------------- referrers

Result<std::vector<Descriptor>> Registry::referrers(const std::string& digest) {
  auto answer = send({.url = url("referrers/" + digest), .most_bytes = kMaxManifestBytes});
  if (!answer) return answer.error();
  std::string list = std::move(answer->body);
  if (answer->status == kNotFound) {
    std::string tag = digest;
    std::ranges::replace(tag, ':', '-');
    auto tagged = manifest(tag);
    if (!tagged && tagged.error().code == Code::not_found) return std::vector<Descriptor>();
    if (!tagged) return tagged.error();
    list = std::move(tagged->bytes);
  } else if (answer->status != kOk) {
    return refusal(*answer, "referrers of " + digest);
  }
  auto index = parse_index(list);
  if (!index) return index.error();
  return index->manifests;
}

Result<std::string> Registry::put_referrer(const Manifest& manifest) {
  const std::string bytes = write_manifest(manifest);
  Descriptor own = describe(bytes, manifest.media_type);
  own.artifact_type = manifest.artifact_type;
  own.annotations = manifest.annotations;
  const std::string subject = manifest.subject->digest;
  auto before = referrers(subject);
  if (!before) return before.error();
  auto put = put_manifest(own.digest, bytes, manifest.media_type);
  if (!put) return put.error();
  auto listed = send({.url = url("referrers/" + subject), .most_bytes = kMaxManifestBytes});
  if (!listed) return listed.error();
  if (listed->status != kNotFound) return put;
  if (std::ranges::find(*before, own.digest, &Descriptor::digest) != before->end()) return put;
  before->push_back(own);
  std::string tag = subject;
  std::ranges::replace(tag, ':', '-');
  auto tagged = put_manifest(tag, write_index({std::string(kIndexType), *std::move(before)}), kIndexType);
  if (!tagged) return tagged.error();
  return put;
}

}  // namespace sluice::oci
