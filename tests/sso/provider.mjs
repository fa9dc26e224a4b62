// An OpenID provider for the test: whoever types a name at its login page is that person, with the groups that the
// first argument gives them: {"ann@shop.example": ["release"]}. The second is how long its tokens last, in seconds.
import Provider from "oidc-provider";

const groups = JSON.parse(process.argv[2]);
const lasting = Number(process.argv[3]);
const callbacks = ["http://127.0.0.1/callback", "http://127.0.0.1/v1/login/sso/callback"];
const clients = ["sluice", "other"].map((client_id) => ({
  client_id, application_type: "native", token_endpoint_auth_method: "none", redirect_uris: callbacks,
  grant_types: ["authorization_code", "refresh_token"], response_types: ["code"],
}));

const { createServer } = await import("node:http");
const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const provider = new Provider(`http://127.0.0.1:${server.address().port}`, {
    clients,
    claims: { openid: ["sub"], email: ["email", "email_verified"], groups: ["groups"] },
    scopes: ["openid", "offline_access", "email", "groups"],
    conformIdTokenClaims: false,
    ttl: { IdToken: lasting, AccessToken: lasting, AuthorizationCode: 60, RefreshToken: 3600, Interaction: 600, Grant: 3600, Session: 3600 },
    pkce: { required: () => true, methods: ["S256"] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, email: id, email_verified: !id.startsWith("unverified"), groups: groups[id] ?? [] }) }),
  });
  server.on("request", provider.callback());
  console.log(provider.issuer);
});
