/**
 * `baton/ledger`: what an entry is, and how to check one, a proof, an export or a whole ledger. Pure, and safe in a
 * browser: hashes and signatures come in as a `Verifier`, of which `webVerifier` is one that runs anywhere.
 */
export { parseBase64, toBase64 } from './format/bytes.ts';
export type { Json, JsonObject } from './format/canonical-json.ts';
export { canonicalJson } from './format/canonical-json.ts';
export type { EntryText, LinkedEntry, HashedEntry } from './format/chain.ts';
export { checkLink, GENESIS, linkDrafts, hashEntries } from './format/chain.ts';
export type { Checkpoint } from './format/checkpoint.ts';
export { originOf, parseCheckpoint, renderCheckpoint, signCheckpoint } from './format/checkpoint.ts';
export type { Sha256, Signer, Verifier } from './format/crypto.ts';
export type { Draft, DraftPosition, PreparedDraft } from './format/draft.ts';
export { prepareDraft } from './format/draft.ts';
export type { Entry } from './format/entry.ts';
export { parseEntry, renderEntry } from './format/entry.ts';
export { exportLedger } from './verify/export.ts';
export { parseHex, toHex } from './format/bytes.ts';
export { LEDGER_LIMITS } from './format/limits.ts';
export { MemoryStore } from './memory-store.ts';
export { emptyRoot, Frontier, leafHash, nodeHash } from './format/merkle.ts';
export type { Note, NoteKey, NoteSignature } from './format/checkpoint.ts';
export { findSigningKey, keyId, parseKey, parseNote, renderKey, signNote } from './format/checkpoint.ts';
export type { TreeHead } from './format/merkle.ts';
export { verifyConsistency, verifyInclusion } from './format/merkle.ts';
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
export type { ProvenEntry, TaskProof } from './verify/task-proof.ts';
export { makeTaskProof } from './verify/task-proof.ts';
export { Tree } from './format/tree.ts';
export type { VerifiedExport } from './verify/export.ts';
export { verifyExport } from './verify/export.ts';
export type { ProvenTask } from './verify/task-proof.ts';
export { verifyTaskProof } from './verify/task-proof.ts';
export type { NotVerified, Verified, VerifyOptions } from './verify/verify-ledger.ts';
export { verifyLedger } from './verify/verify-ledger.ts';
export type { LedgerFault } from './verify/walk.ts';
export { webVerifier } from './format/crypto.ts';
export type { Parsed, Problem, Refused } from '../protocol/shape/problem.ts';
