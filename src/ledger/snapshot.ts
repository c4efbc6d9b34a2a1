import type { Sha256 } from './crypto.ts';
import { sameBytes } from './hex.ts';
import type { Head, Snapshot } from './store.ts';

/**
 * A folded state, tied to the entry that it stands on. It is derived: whatever is wrong with it, the answer is to throw
 * it away and fold again. The digest in front notices a byte that changed on the disk.
 */
export function sealSnapshot(sha256: Sha256, name: string, head: Head, state: Uint8Array): Snapshot {
  const digest = digestOf(sha256, name, head, state);
  const bytes = new Uint8Array(digest.length + state.length);
  bytes.set(digest);
  bytes.set(state, digest.length);
  return { size: head.size, hash: head.hash, bytes };
}

/** The state inside, or nothing where the snapshot is not what was saved. Whether its entry is still there is checked above. */
export function openSnapshot(sha256: Sha256, name: string, snapshot: Snapshot): Uint8Array | undefined {
  const state = snapshot.bytes.subarray(DIGEST_BYTES);
  const digest = digestOf(sha256, name, snapshot, state);
  return sameBytes(digest, snapshot.bytes.subarray(0, DIGEST_BYTES)) ? state : undefined;
}

const DIGEST_BYTES = 32;
const encoder = new TextEncoder();

function digestOf(sha256: Sha256, name: string, head: Head, state: Uint8Array): Uint8Array {
  const place = encoder.encode(`${JSON.stringify(name)} ${head.size}\n`);
  const whole = new Uint8Array(place.length + 2 * DIGEST_BYTES);
  whole.set(place);
  whole.set(head.hash.subarray(0, DIGEST_BYTES), place.length);
  whole.set(sha256(state), place.length + DIGEST_BYTES);
  return sha256(whole);
}
