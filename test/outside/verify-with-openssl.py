"""Checks a task proof of Baton with nothing but openssl and hashlib: python3 verify-with-openssl.py proof.json"""
import base64, hashlib, json, subprocess, sys, tempfile

write = lambda value: json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
text = open(sys.argv[1], encoding="utf-8", newline="").read()
proof, number = json.loads(text), 0
assert proof["v"] == 2 and text == write(proof) + "\n", "the file has another text"  # a field twice, a space
text, signatures = proof["checkpoint"].split("\n\n")
origin, size, root, *_ = text.split("\n")
text, size, root = text + "\n", int(size), base64.b64decode(root)

# The key is name+id+base64; its id is the start of SHA-256(name, newline, algorithm and key).
name, key_id, key = proof["key"].split("+", 2)
key = base64.b64decode(key)
assert name == origin and hashlib.sha256(name.encode() + b"\n" + key).hexdigest()[:8] == key_id

_, signer, signature = signatures.strip().split(" ")
signature = base64.b64decode(signature)
assert signer == name and signature[:4].hex() == key_id
with tempfile.NamedTemporaryFile() as pub, tempfile.NamedTemporaryFile() as sig, tempfile.NamedTemporaryFile() as msg:
    for file, content in (pub, bytes.fromhex("302a300506032b6570032100") + key[1:]), (sig, signature[4:]), (msg, text.encode()):
        file.write(content)
        file.flush()
    subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-keyform", "DER", "-inkey", pub.name,
                    "-rawin", "-in", msg.name, "-sigfile", sig.name], check=True, stdout=subprocess.DEVNULL)

for item in proof["entries"]:
    entry = item["entry"]
    node, index, last = hashlib.sha256(b"\x00" + write(entry).encode()).digest(), entry["seq"] - 1, size - 1
    for sibling in map(base64.b64decode, item["proof"]):
        if index % 2 or index == last:
            node = hashlib.sha256(b"\x01" + sibling + node).digest()
            while index % 2 == 0 and index:
                index, last = index // 2, last // 2
        else:
            node = hashlib.sha256(b"\x01" + node + sibling).digest()
        index, last = index // 2, last // 2
    assert last == 0 and node == root, f"entry {entry['seq']} is not in the tree"
    number += 1
    assert entry["tasks"][proof["task_id"]] == number, f"number {number} is missing"
assert entry["type"] == "TaskCounted" and entry["data"] == {"task_id": proof["task_id"], "last": number}
print(f"verified: {len(proof['entries'])} entries of {proof['task_id']}")
