// Asks a Vault through npm's node-vault: read PATH, write PATH VALUE, or status.
const [address, token, verb, path, value] = process.argv.slice(2);
const vault = require("node-vault")({ endpoint: address, token });
const verbs = {
  read: () => vault.read(path),
  write: () => vault.write(path, { data: { value } }),
  status: () => vault.status(),
};
verbs[verb]().then((answer) => console.log(JSON.stringify(answer)));
