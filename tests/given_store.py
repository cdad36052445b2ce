"""Files of results as somebody else would read and change them."""

import hashlib
import json


def lines(path):
    """Return the lines of a file, each of them JSON as others read it."""

    def no_constants(name):
        raise AssertionError(f"{name} is not JSON")

    content = path.read_text("ascii")
    assert content.endswith("\n")
    return [json.loads(one, parse_constant=no_constants) for one in content.splitlines()]


def results(path):
    """Return the results of a file by key, lists as tuples."""
    return {
        tuple(one["key"]) if isinstance(one["key"], list) else one["key"]: one["value"]
        for one in lines(path)[1:]
    }


def write(path, records):
    """Write records with checksums of their own."""
    with path.open("wb") as file:
        for record in records:
            body = json.dumps({k: v for k, v in record.items() if k != "check"})[:-1].encode()
            mark = hashlib.blake2b(body, digest_size=8).hexdigest()
            file.write(body + f', "check": "{mark}"}}\n'.encode())
