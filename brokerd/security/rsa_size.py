"""How large the RSA key of a certificate is, which Python's ssl does not return.

Signing takes eight times as long with twice the bits, and a broker signs on its event loop: with a
key of 16,384 bits each handshake would hold up everybody.
"""

RSA_BITS_MAX = 8192
_OF_RSA = bytes.fromhex("2a864886f70d0101")
"""How the names of RSA's algorithms begin (PKCS #1)."""
_SPKI = 5
"""Where the public key stands in a certificate, behind its serial number, the algorithm of its
signature, its issuer, its time and its subject."""
_VERSION = 0xA0
Field = tuple[int, bytes]


def rsa_bits(certificate: bytes) -> int:
    """The bits of a certificate's key (in DER); 0 if the key is not RSA's. Raises ValueError."""
    try:
        (_, signed), *_ = _fields(_fields(certificate)[0][1])
        parts = [each for each in _fields(signed) if each[0] != _VERSION]
        (_, algorithm), (_, key) = _fields(parts[_SPKI][1])
        if not _fields(algorithm)[0][1].startswith(_OF_RSA):
            return 0
        (_, modulus), *_ = _fields(_fields(key[1:])[0][1])
    except IndexError:
        raise ValueError("it ends too early") from None
    return int.from_bytes(modulus).bit_length()


def _fields(data: bytes) -> list[Field]:
    """Tag and content of each value that stands there. Raises IndexError, ValueError."""
    found, at = [], 0
    while at < len(data):
        tag, size, at = data[at], data[at + 1], at + 2
        if size >= 0x80:
            width = size - 0x80
            size, at = int.from_bytes(data[at : at + width]), at + width
        if at + size > len(data):
            raise ValueError("a value ends behind what holds it")
        found.append((tag, data[at : at + size]))
        at += size
    return found
