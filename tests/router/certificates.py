"""Certificates in folders as certbot leaves them."""

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID


def general_name(name):
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


class Authority:
    """Signs certificates of servers and of clients; `chain` is its own."""

    def __init__(self, folder, name):
        self.folder, self.subject = folder, x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.chain = folder / f"{name}.pem"
        made = self.build(self.subject, self.key.public_key(), 90).add_extension(x509.BasicConstraints(True, None), True)
        folder.mkdir(parents=True, exist_ok=True)
        self.chain.write_bytes(made.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    @property
    def pem(self):
        return self.chain.read_text()

    def build(self, subject, key, days):
        now = datetime.datetime.now(datetime.timezone.utc)
        until = now + datetime.timedelta(days=days)
        return (x509.CertificateBuilder().subject_name(subject).issuer_name(self.subject).public_key(key)
                .serial_number(x509.random_serial_number()).not_valid_before(min(now, until) - datetime.timedelta(days=1))
                .not_valid_after(until))

    def sign(self, name, *names, days=90):
        """FOLDER/NAME-{chain,key}.pem, for these hosts, addresses and URIs."""
        key = ec.generate_private_key(ec.SECP256R1())
        made = self.build(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]), key.public_key(), days)
        if names:
            made = made.add_extension(x509.SubjectAlternativeName([
                x509.UniformResourceIdentifier(each) if "://" in each else general_name(each) for each in names]), False)
        chain, private = self.folder / f"{name}-chain.pem", self.folder / f"{name}-key.pem"
        chain.write_bytes(made.sign(self.key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
        private.write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                              serialization.NoEncryption()))
        return str(chain), str(private)


def write(folder, *names, kind="ecdsa", days=90):
    """FOLDER/{fullchain,privkey}.pem for these names, signed by itself; where the chain is."""
    folder.mkdir(parents=True, exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1()) if kind == "ecdsa" else rsa.generate_private_key(65537, 2048)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    now = datetime.datetime.now(datetime.timezone.utc)
    until = now + datetime.timedelta(days=days)
    made = (x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(min(now, until) - datetime.timedelta(days=1))
            .not_valid_after(until)
            .add_extension(x509.SubjectAlternativeName([general_name(name) for name in names]), False)
            .sign(key, hashes.SHA256()))
    (folder / "fullchain.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "privkey.pem").write_bytes(key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return folder / "fullchain.pem"
