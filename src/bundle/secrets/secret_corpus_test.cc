// How well the secrets doctor does: of 200 planted secrets it misses at most 5 %, of 200 look-alikes it takes at most
// 1 % for secrets. Both are made of tables: fifty files each, in which VALUE stands for a value of a kind, four times.
// Every value is made up, and put together here so that no other doctor takes this file for one with secrets.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "bundle/secrets/deny_list.h"
#include "bundle/secrets/secret_scan.h"
#include "crypto/base64.h"
#include "crypto/hex.h"
#include "crypto/sha256.h"

namespace sluice::bundle {
namespace secret_corpus_test {

constexpr size_t kValues = 4;  // of each kind

std::string bytes_of(size_t number, size_t count) {
  std::string bytes;
  for (size_t i = 0; bytes.size() < count; ++i) {
    auto digest = crypto::sha256("planted " + std::to_string(number) + " " + std::to_string(i));
    bytes.append(digest.begin(), digest.end());
  }
  return bytes.substr(0, count);
}

std::string letters(size_t number) {
  std::string text = "FAKE" + crypto::to_base64(bytes_of(number, 30), crypto::Base64::url_unpadded);
  std::erase_if(text, [](char c) { return c == '-' || c == '_'; });
  return text.substr(0, 24 + number * 3);
}

std::string hex(size_t number) { return "fa4e" + crypto::to_hex(bytes_of(number, 14 + number)); }

std::string login(size_t number) {
  return crypto::to_base64("deploy" + std::to_string(number) + ":" + letters(number));
}

// Sequences in DER that are as long as they say: PKCS #8 and #1, SEC 1.
std::string der(size_t number) {
  using namespace std::string_literals;
  const std::array<std::string, kValues> keys = {
      "\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20"s + bytes_of(number, 32),
      "\x30\x82\x01\x32\x02\x01\x00\x02\x41\x00"s + bytes_of(number, 300),
      "\x30\x77\x02\x01\x01\x04\x20"s + bytes_of(number, 114),
      "\x30\x82\x04\xbe\x02\x01\x00\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x04\x82\x04\xa8"s +
          bytes_of(number, 1192)};
  return crypto::to_base64(keys[number]);
}

std::string lines_of(const std::string& text) {
  std::string lines;
  for (size_t at = 0; at < text.size(); at += 64) lines += text.substr(at, 64) + "\n";
  return lines;
}

std::string pem(size_t number) {
  const std::string dashes(5, '-');
  return dashes + "BEGIN PRIVATE KEY" + dashes + "\n" + lines_of(der(number)) + dashes + "END PRIVATE KEY" + dashes +
         "\n";
}

std::string chosen(size_t number) {
  return std::array{"Tr0ub4dor&3", "Winter!2031", "c0rrect+Horse", "fakePa55phrase"}[number];
}

// What stands for a value, or is one of something that is no secret.
std::string placeholder(size_t number) {
  return std::array{"${DB_PASSWORD}", "changeme", "<your-password-here>", "{{ .Values.password }}"}[number];
}
std::string reference(size_t number) {
  return std::array{"/run/secrets/db1_password", "secret://shop/db/password", "arn:cloud:secrets:eu-1:1234:db",
                    "https://login.example/oauth2/v2.0/token"}[number];
}
std::string word(size_t number) {
  return std::array{"oauth2-proxy-v7", "color.text.accent.blue2", "min-12-upper-1-digit-1",
                    "db-password-v2-prod"}[number];
}
std::string plain(size_t number) { return std::array{"true", "3600s", "db-1.shop.example", "8443"}[number]; }
std::string code(size_t number) {
  return std::array{"getToken(request2)", "process.env.TOKEN_V2", "config[\"k1\"].value",
                    "await load(url2, 16)"}[number];
}
std::string digest(size_t number) { return crypto::to_hex(bytes_of(number, 32)); }
std::string digest64(size_t number) { return crypto::to_base64(bytes_of(number, 48)); }
// A public key, and certificates.
std::string open_der(size_t number) {
  using namespace std::string_literals;
  if (number == 0) {
    return crypto::to_base64(
        "\x30\x82\x01\x22\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x03\x82\x01\x0f\x00"s +
        bytes_of(number, 270));
  }
  return crypto::to_base64("\x30\x82\x03\x1a\x30\x82\x02\x02\xa0\x03\x02\x01\x02\x02\x14"s + bytes_of(number, 783));
}

struct Shape {
  const char* file;
  const char* text;
  std::string (*value)(size_t number);
};

const std::vector<Shape> kPlanted = {
    // Kubernetes and its kin.
    {"pod.yaml", "env:\n  - name: DB_PASSWORD\n    value: VALUE\n", letters},
    {"pod-quoted.yaml", "env:\n- name: \"API_TOKEN\"\n  value: \"VALUE\"\n", letters},
    {"pod-chosen.yaml", "env:\n  - name: DB_PASSWORD\n    value: 'VALUE'\n", chosen},
    {"pod-crlf.yaml", "env:\r\n  - name: CLIENT_SECRET\r\n    value: VALUE\r\n", hex},
    {"pod-flow.yaml", "env: [{name: SESSION_SECRET, value: VALUE}]\n", letters},
    {"pod.json", "{\"env\": [{\"name\": \"DB_PASSWORD\", \"value\": \"VALUE\"}]}\n", letters},
    {"task.json", "{\n  \"name\": \"SIGNING_SECRET\",\n  \"value\": \"VALUE\"\n}\n", hex},
    {"stack.json", "[{\"ParameterKey\": \"DbPassword\", \"ParameterValue\": \"VALUE\"}]\n", letters},
    {"secret.yaml", "kind: Secret\nstringData:\n  password: VALUE\n", letters},
    {"tls.yaml", "kind: Secret\ndata:\n  tls.key: VALUE\n", [](size_t n) { return crypto::to_base64(pem(n)); }},
    {"pull.yaml", "kind: Secret\ndata:\n  .dockerconfigjson: VALUE\n",
     [](size_t n) { return crypto::to_base64("{\"auths\":{\"registry.example\":{\"auth\":\"" + login(n) + "\"}}}"); }},
    {"values.yaml", "database:\n  password: \"VALUE\"\n", chosen},
    // XML.
    {"settings.xml", "<server><username>ci</username><password>VALUE</password></server>\n", letters},
    {"context.xml", "<db:password>VALUE</db:password>\n", hex},
    {"login.xml", "<password>VALUE</password>\n", chosen},
    {"web.config", "<add key=\"ApiToken\" value=\"VALUE\" />\n", letters},
    {"beans.xml", "<property name=\"db.password\" value=\"VALUE\"/>\n", letters},
    {"strings.xml", "<string name=\"api_key\">VALUE</string>\n", letters},
    {"entries.xml", "<entry key='clientSecret'>VALUE</entry>\n", hex},
    {"app.plist", "<key>ApiSecret</key>\n<string>VALUE</string>\n", letters},
    {"core-site.xml", "<property>\n  <name>fs.secret.key.password</name>\n  <value>VALUE</value>\n</property>\n",
     letters},
    // Dockerfiles.
    {"Dockerfile", "FROM base.example/app\nENV DB_PASSWORD VALUE\n", letters},
    {"app.Dockerfile", "FROM base.example/app\nENV DB_PASSWORD=VALUE PORT=80\n", letters},
    {"Containerfile", "ENV ADMIN_PASSWORD \"VALUE\"\n", chosen},
    {"build.Dockerfile", "FROM base.example/app\nARG NPM_TOKEN=VALUE\n", hex},
    // Headers.
    {"call.http", "GET / HTTP/1.1\nHost: api.example\nAuthorization: Bearer VALUE\n", letters},
    {"client.js", "request.setHeader(\"Authorization\", \"Bearer VALUE\");\n", letters},
    {"check.sh", "curl -H 'Authorization: Bearer VALUE' https://api.example/\n", hex},
    {"basic.http", "GET / HTTP/1.1\nAuthorization: Basic VALUE\n", login},
    {"proxy.conf", "proxy_set_header Authorization \"Basic VALUE\";\n", login},
    {"headers.json", "{\"Authorization\": \"Basic VALUE\"}\n", login},
    // Docker's and npm's logins.
    {"config.json", "{\"auths\": {\"registry.example\": {\"auth\": \"VALUE\"}}}\n", login},
    {"npm.conf", "//registry.example/:_auth=VALUE\n", login},
    {"npm-token.conf", "//registry.example/:_authToken=VALUE\n", hex},
    // Keys.
    {"key.json", "{\"key\": \"VALUE\"}\n", der},
    {"key.yaml", "signing:\n  der: VALUE\n", der},
    {"key.txt", "the key:\nVALUE", [](size_t n) { return lines_of(der(n)); }},
    {"Keys.java", "String KEY = \"VALUE\";\n", der},
    {"server.pem", "VALUE", pem},
    // Files that hold them by their name.
    {"deploy/kubeconfig", "users:\n- name: ci\n  user:\n    password: VALUE\n",
     [](size_t n) { return "fake" + std::to_string(n); }},
    {"cluster.yaml", "users:\n- name: ci\n  user:\n    client-key-data: VALUE\n",
     [](size_t n) { return crypto::to_base64(pem(n)); }},
    {"terraform.tfvars", "db_password = \"VALUE\"\n", [](size_t n) { return "fake" + std::to_string(n); }},
    {"credentials.json", "{\"installed\": {\"client_id\": \"VALUE\"}}\n",
     [](size_t n) { return "fake" + std::to_string(n); }},
    // What was found before.
    {"application.properties", "db.password=VALUE\n", letters},
    {"app.toml", "[mail]\nsmtp_password = \"VALUE\"\n", chosen},
    {"settings.py", "SECRET_KEY_TOKEN = 'VALUE'\n", letters},
    {"hosts.ini", "[db]\ndb1.example ansible_ssh_pass=VALUE\n", letters},
    {"store.yaml", "url: postgres://app:VALUE@db.example/shop\n", letters},
    // What is missed: names that stand two words before the value.
    {"wp-config.php", "define('DB_PASSWORD', 'VALUE');\n", letters},
    {"variables.tf", "variable \"db_password\" {\n  default = \"VALUE\"\n}\n", letters},
};

const std::vector<Shape> kHarmless = {
    {"pod.yaml", "env:\n  - name: DB_PASSWORD\n    value: VALUE\n", placeholder},
    {"pod-plain.yaml", "env:\n  - name: DB_HOST\n    value: VALUE\n", plain},
    {"pod-ttl.yaml", "env:\n  - name: TOKEN_TTL\n    value: VALUE\n", plain},
    {"pod-image.yaml", "containers:\n  - name: token-proxy\n    image: registry.example/proxy@sha256:VALUE\n", digest},
    {"pod-file.yaml", "env:\n  - name: DB_PASSWORD_FILE\n    value: VALUE\n", reference},
    {"pod-ref.yaml", "env:\n  - name: DB_PASSWORD\n    valueFrom: {secretKeyRef: {name: VALUE, key: password}}\n",
     word},
    {"pod.json", "{\"name\": \"API_TOKEN\", \"value\": \"VALUE\"}\n", placeholder},
    {"release.json", "{\"name\": \"checksum\", \"value\": \"VALUE\"}\n", digest},
    {"stack.json", "[{\"ParameterKey\": \"CommitId\", \"ParameterValue\": \"VALUE\"}]\n", digest},
    {"values.yaml", "tls:\n  secretName: VALUE\n", word},
    {"settings.xml", "<password>VALUE</password>\n", placeholder},
    {"ref.xml", "<passwordRef>VALUE</passwordRef>\n", word},
    {"hash.xml", "<sha256>VALUE</sha256>\n", digest},
    {"text.xml", "<string name=\"password_hint\">VALUE</string>\n", word},
    {"web.config", "<add key=\"TokenUrl\" value=\"VALUE\" />\n", reference},
    {"page.html", "<label for=\"password\">VALUE</label>\n", word},
    {"form.html", "<input type=\"password\" name=\"password\" value=\"VALUE\">\n", placeholder},
    {"app.plist", "<key>BuildDigest</key>\n<string>VALUE</string>\n", digest},
    {"core-site.xml", "<property><name>token.file</name><value>VALUE</value></property>\n", reference},
    {"Dockerfile", "FROM base.example/app\nENV DB_PASSWORD VALUE\n", placeholder},
    {"env.Dockerfile", "FROM base.example/app\nENV TOKEN_PATH VALUE\n", reference},
    {"sum.Dockerfile", "FROM base.example/app\nENV APP_SHA256 VALUE\n", digest},
    {"arg.Dockerfile", "FROM base.example/app\nARG COMMIT=VALUE\n", digest},
    {"prose.md", "Env token lookups take VALUE as they come.\n", word},
    {"call.http", "GET / HTTP/1.1\nAuthorization: Bearer VALUE\n", placeholder},
    {"client.js", "request.setHeader('Authorization', 'Bearer ' + VALUE);\n", code},
    {"template.js", "headers: { Authorization: `Bearer ${VALUE}` }\n", code},
    {"bearer.md", "Bearer tokens (see VALUE) are sent with every call.\n", reference},
    {"basic.md", "Basic usage: VALUE is all there is to it.\n", word},
    {"manual.md", "Authorization: Basic VALUE\n",
     [](size_t n) {
       return crypto::to_base64(std::array{"user:pass", "username:password", "Aladdin:open sesame", "me:changeme"}[n]);
     }},
    {"config.json", "{\"auth\": \"VALUE\"}\n", plain},
    {"oauth.json", "{\"auth\": \"VALUE\"}\n", word},
    {"public.json", "{\"key\": \"VALUE\"}\n", open_der},
    {"saml.xml", "<X509Certificate>VALUE</X509Certificate>\n", open_der},
    {"certs.txt", "the certificates:\nVALUE", [](size_t n) { return lines_of(open_der(n)); }},
    {"ca.yaml", "clusters:\n- cluster:\n    certificate-authority-data: VALUE\n",
     [](size_t n) { return crypto::to_base64("-----BEGIN CERTIFICATE-----\n" + lines_of(open_der(n))); }},
    {"package-lock.json", "{\"integrity\": \"sha512-VALUE\"}\n", digest64},
    {"go.sum", "module.example/token v1.2.3 h1:VALUE\n", digest64},
    {"poetry.lock", "[[package]]\nname = \"secretstorage\"\nfiles = [{hash = \"sha256:VALUE\"}]\n", digest},
    {"image.css", ".token { background: url(data:image/png;base64,VALUE) }\n", digest64},
    {"app.py", "token = VALUE\n", code},
    {"app.ts", "const password: string = VALUE;\n", code},
    {"theme.json", "{\"token\": \"VALUE\"}\n", word},
    {"policy.yaml", "passwordPolicy: VALUE\n", word},
    {"oidc.yaml", "token_endpoint: \"VALUE\"\n", reference},
    {"vault.yaml", "db_password: VALUE\n", reference},
    {"kubeconfig.md", "Write the password of the cluster into VALUE.\n", reference},
    {"credentials.js", "export const credentials = VALUE;\n", code},
    {"variables.tf", "variable \"db_password\" {\n  default = \"VALUE\"\n}\n", placeholder},
    {"main.tf", "db_password = var.db_password\n# VALUE\n", digest},
};

std::string filled(const Shape& shape, size_t number) {
  std::string text = shape.text;
  return text.replace(text.find("VALUE"), 5, shape.value(number));
}

// What would keep the file out of a bundle; empty if nothing would.
std::string doctors_word(const std::string& file, const std::string& text) {
  if (auto name = denied(file, false); name && name->secret) return std::string(name->what);
  SecretScan scan;
  EXPECT_TRUE(scan.begin_file(file) && scan.content(text) && scan.end_file());
  return scan.report().findings.empty() ? "" : scan.report().findings.front().kind;
}

struct Count {
  size_t files = 0;
  std::vector<std::string> found, passed;
};
Count count(const std::vector<Shape>& shapes) {
  Count count;
  for (const Shape& shape : shapes) {
    for (size_t number = 0; number < kValues; ++number, ++count.files) {
      const std::string text = filled(shape, number);
      const std::string word = doctors_word(shape.file, text);
      const std::string line = std::string(shape.file) + ": " + word + ": " + text.substr(0, 160);
      (word.empty() ? count.passed : count.found).push_back(line);
    }
  }
  return count;
}

TEST(FirstWeek26, TheDoctorFindsPlantedSecrets) {
  const Count planted = count(kPlanted);
  EXPECT_EQ(planted.files, 200u);
  EXPECT_LE(planted.passed.size(), planted.files * 5 / 100) << testing::PrintToString(planted.passed);
}

TEST(FirstWeek26, TheDoctorLeavesLookAlikesAlone) {
  const Count harmless = count(kHarmless);
  EXPECT_EQ(harmless.files, 200u);
  EXPECT_LE(harmless.found.size(), harmless.files * 1 / 100) << testing::PrintToString(harmless.found);
}

}  // namespace secret_corpus_test
}  // namespace sluice::bundle
