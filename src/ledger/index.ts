/**
 * `baton/ledger`: what an entry is, and how to check one, a proof, an export or a whole ledger. Pure, and safe in a
 * browser: hashes and signatures come in as a `Verifier`, of which `webVerifier` is one that runs anywhere.
 */
export { parseBase64, toBase64 } from './base64.ts';
export type { Json, JsonObject } from './canonical-json.ts';
export { canonicalJson } from './canonical-json.ts';
export type { EntryText, LinkedEntry, HashedEntry } from './chain.ts';
export { checkLink, GENESIS, linkDrafts, hashEntries } from './chain.ts';
export type { Checkpoint } from './checkpoint.ts';
export { originOf, parseCheckpoint, renderCheckpoint, signCheckpoint } from './checkpoint.ts';
export type { Sha256, Signer, Verifier } from './crypto.ts';
export type { Draft, DraftPosition, PreparedDraft } from './draft.ts';
export { prepareDraft } from './draft.ts';
export type { Entry } from './entry.ts';
export { parseEntry, renderEntry } from './entry.ts';
export { exportLedger } from './export.ts';
export { parseHex, toHex } from './hex.ts';
export { LEDGER_LIMITS } from './limits.ts';
export { MemoryStore } from './memory.ts';
export { emptyRoot, Frontier, leafHash, nodeHash } from './merkle.ts';
export type { Note, NoteKey, NoteSignature } from './note.ts';
export { findSigningKey, keyId, parseKey, parseNote, renderKey, signNote } from './note.ts';
export type { TreeHead } from './proof.ts';
export { verifyConsistency, verifyInclusion } from './proof.ts';
export { redactJson, redactText } from './redact.ts';
export type {
  Appended,
  Commit,
  Head,
  Range,
  Snapshot,
  Store,
  StoredBlob,
  StoredCheckpoint,
  StoredEntry,
  Tile,
} from './store.ts';
export type { ProvenEntry, TaskProof } from './task-proof.ts';
export { makeTaskProof } from './task-proof.ts';
export { Tree } from './tree.ts';
export type { VerifiedExport } from './verify-export.ts';
export { verifyExport } from './verify-export.ts';
export type { ProvenTask } from './verify-task-proof.ts';
export { verifyTaskProof } from './verify-task-proof.ts';
export type { NotVerified, Verified, VerifyOptions } from './verify.ts';
export { verifyLedger } from './verify.ts';
export type { LedgerFault } from './walk.ts';
export { webVerifier } from './web-crypto.ts';
export type { Parsed, Problem, Refused } from '../protocol/problem.ts';
