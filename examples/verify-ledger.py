"""Verifies an exported ledger with Python alone: python3 verify-ledger.py ledger.ndjson

--key KEY: a key from another source, which the ledger must trust. --repository FOLDER: a git repository, which must
have every recorded commit. Exits with 1 and the reason if anything differs from what the trusted keys have signed.
"""
import argparse, base64, hashlib, json, subprocess, sys

P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493  # Ed25519, RFC 8032
D = -121665 * pow(121666, -1, P) % P


def add(a, b):
    e, f = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    c, d = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    return ((f - e) * (d - c) % P, (d + c) * (f + e) % P, (d - c) * (d + c) % P, (f - e) * (f + e) % P)


def times(n, point):
    total = (0, 1, 1, 0)
    for bit in bin(n)[2:]:
        total = add(total, total)
        if bit == "1": total = add(total, point)
    return total


def point_of(data):
    y, sign = int.from_bytes(data, "little") % 2**255, data[31] >> 7
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square: x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square or (x == 0 and sign): raise ValueError("not a point of the curve")
    return (x, y, 1, x * y % P) if x % 2 == sign else (P - x, y, 1, -x * y % P)


BASE = point_of((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def has_signed(key, text, signature):
    s = int.from_bytes(signature[32:], "little")
    if len(signature) != 64 or s >= L: return False
    k = int.from_bytes(hashlib.sha512(signature[:32] + key + text).digest(), "little") % L
    x, y, z, _ = add(times(s, BASE), times(L - k, point_of(key)))
    x, y = x * pow(z, -1, P) % P, y * pow(z, -1, P) % P
    return (y | (x % 2) << 255).to_bytes(32, "little") == signature[:32]


def sha(data): return hashlib.sha256(data).digest()


def decode(text):
    data = base64.b64decode(text, validate=True)
    require(base64.b64encode(data).decode() == text, "unusual base64")
    return data


def key_of(text, origin):
    """The 32 bytes of a key in the form name+id+base64; None if it belongs to another ledger."""
    name, key_id, encoded = text.split("+", 2)
    data = decode(encoded)
    is_own = name == origin and data[:1] == b"\x01" and len(data) == 33
    return data[1:] if is_own and key_id == sha(name.encode() + b"\n" + data)[:4].hex() else None


class Ledger:
    def __init__(self):
        self.entries, self.tree, self.trusted, self.waiting, self.signed, self.origin = [], [], [], [], 0, None
        self.numbers = {}

    def read(self, line):
        value = json.loads(line, parse_float=refuse, parse_constant=refuse, object_pairs_hook=unique)
        if list(value) == ["checkpoint"]:
            require(line == f'{{"checkpoint":{canonical(value["checkpoint"])}}}', "its form is wrong")
            return self.check(value["checkpoint"])
        entry = value["entry"]
        text, last = canonical(entry), self.entries[-1] if self.entries else {"project": entry["project"]}
        leaf = sha(b"\x00" + text.encode())
        require(line == f'{{"entry":{text},"hash":"{leaf.hex()}"}}', "its hash or its form is wrong")
        self.count(entry["v"], last.get("v", 1), entry.get("tasks", {}), entry["data"])
        fields = ["actor", "at", "cause", "data", "prev", "project", "seq", "tasks", "type", "v"]
        require(sorted(entry) == [name for name in fields if entry["v"] == 2 or name != "tasks"], "its fields")
        follows = entry["prev"] == last.get("hash", "0" * 64) and entry["seq"] == len(self.entries) + 1
        require(follows and entry["project"] == last["project"], "it does not follow the last one")
        self.origin = "baton/" + entry["project"]
        if entry["type"] in ("KeyAdded", "KeyRevoked"): self.waiting.append((entry["type"], entry["data"]["key"]))
        self.entries.append({**entry, "hash": leaf.hex()})
        size = 1
        while self.tree and self.tree[-1][0] == size:
            leaf, size = sha(b"\x01" + self.tree.pop()[1] + leaf), size * 2
        self.tree.append((size, leaf))

    def count(self, version, last, tasks, data):
        """Entries of version 2 have their number within each task, so that none can be missing."""
        require(version in (1, 2) and version >= last, "its version")
        require(version == 1 or data.get("task_id") in (None, *tasks), "it has no number within its task")
        for task, number in tasks.items():
            follows = type(number) is int and number == self.numbers.get(task, 0) + 1
            require(follows, f"an entry of {task} is missing before it")
            self.numbers[task] = number

    def check(self, note):
        """A key is trusted, or no longer, only after a key that was trusted before has signed the change."""
        body, signatures = note.rsplit("\n\n", 1)
        origin, size, root, _ = body.split("\n")
        require(origin == self.origin and size == str(len(self.entries)), "it belongs to other entries")
        require(len(self.entries) > self.signed and decode(root) == self.root(), "it states another tree")
        first = [key for kind, key in self.waiting if kind == "KeyAdded" and key_of(key, origin)][:1]
        keys = [key_of(key, origin) for key in self.trusted or first]
        *lines, end = signatures.split("\n")
        for dash, name, encoded in (line.split(" ") for line in lines):
            data = decode(encoded)
            require(dash == "—" and end == "", "its signatures have another form")
            for key in keys:
                is_named = name == origin and data[:4] == sha(name.encode() + b"\n\x01" + key)[:4]
                if is_named and has_signed(key, (body + "\n").encode(), data[4:]): return self.settle()
        require(False, "no trusted key has signed it")

    def settle(self):
        for kind, key in self.waiting:
            if key_of(key, self.origin) is None: continue
            others = [each for each in self.trusted if each != key]
            if kind == "KeyAdded": self.trusted = self.trusted if key in self.trusted else [*self.trusted, key]
            elif others: self.trusted = others  # the last key stays
        self.waiting, self.signed = [], len(self.entries)

    def root(self):
        *rest, (_, node) = self.tree
        for _, left in reversed(rest): node = sha(b"\x01" + left + node)
        return node


def canonical(entry):
    """RFC 8785 for whole numbers: no spaces, keys in the order of their UTF-16 units."""
    if isinstance(entry, dict):
        keys = sorted(entry, key=lambda key: key.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(key)}:{canonical(entry[key])}" for key in keys) + "}"
    if isinstance(entry, list): return "[" + ",".join(map(canonical, entry)) + "]"
    return json.dumps(entry, ensure_ascii=False)


def unique(pairs):
    require(len(dict(pairs)) == len(pairs), "a field appears twice")
    return dict(pairs)


def refuse(number):
    raise ValueError(f"{number} is not a whole number")


def require(holds, what):
    if not holds: raise ValueError(what)


def verify(path):
    ledger, number = Ledger(), 0
    with open(path, encoding="utf-8", newline="\n") as file:
        for number, line in enumerate(file, 1):
            try: ledger.read(line.removesuffix("\n"))
            except Exception as error: raise ValueError(f"line {number} is bad: {error}") from None
    is_whole = ledger.entries and ledger.signed == len(ledger.entries)
    require(is_whole, f"line {number + 1} is bad: the checkpoint at the end is missing")
    return ledger


COMMIT_FIELDS = ("merge_sha", "head", "base")
MESSAGES = ("SessionPrepared", "SessionMeasured", "ResultSubmitted", "ThoughtRecorded", "HandoffDelivered",
            "AgentSessionCompleted", "CheckFinished", "MergeFinished")


def find_commits(entries):
    """All commits that entries name, and the messages that neither name one nor belong to a session that does."""
    commits, places, loose = set(), set(), []
    for entry in entries:
        data = entry["data"]
        named = [data.get(field) for field in COMMIT_FIELDS] + [(data.get("record") or {}).get("commit_sha")]
        own = {sha for sha in named if isinstance(sha, str) and len(sha) == 40}
        session = data.get("session_id") or data.get("agent_id")
        place = f"session:{session}" if entry["type"].startswith("Session") else entry["actor"]
        commits |= own
        if own: places.add(place)
        elif entry["type"] in MESSAGES: loose.append((place, f"entry {entry['seq']} ({entry['type']})"))
    return commits, [name for place, name in loose if place not in places]


def find_in(repository, entries):
    commits, loose = find_commits(entries)
    for name in loose: print(f"{name} is tied to no commit")
    for commit in sorted(commits):
        has = subprocess.run(["git", "-C", repository, "cat-file", "-e", commit + "^{commit}"], capture_output=True)
        require(has.returncode == 0, f"commit {commit} is not in the repository")
    return f", and the repository has all {len(commits)} commits"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ledger")
    parser.add_argument("--key")
    parser.add_argument("--repository")
    given = parser.parse_args()
    ledger = verify(given.ledger)
    require(given.key in (None, *ledger.trusted), f"the ledger does not trust {given.key}")
    found = find_in(given.repository, ledger.entries) if given.repository else ""
    print(f"verified: {len(ledger.entries)} entries{found}. Trusted keys: {' '.join(ledger.trusted)}")


if __name__ == "__main__":
    try: main()
    except (ValueError, OSError) as error: sys.exit(f"not verified: {error}")
