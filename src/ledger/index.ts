/** `batonctl/ledger`: entries, proofs, exports and their checks. Pure and safe in a browser. */
export { parseBase64, parseHex, toBase64, toHex } from './format/bytes.ts';
export { canonicalJson, type Json, type JsonObject } from './format/canonical-json.ts';
export {
  checkLink,
  type EntryText,
  GENESIS,
  type HashedEntry,
  hashEntries,
  linkDrafts,
  type LinkedEntry,
} from './format/chain.ts';
export { type Checkpoint, originOf, parseCheckpoint, renderCheckpoint, signCheckpoint } from './format/checkpoint.ts';
export { findSigningKey, keyId, type Note, type NoteKey, type NoteSignature } from './format/checkpoint.ts';
export { parseKey, parseNote, renderKey, signNote } from './format/checkpoint.ts';
export { type Sha256, type Signer, type Verifier, webVerifier } from './format/crypto.ts';
export { type Draft, type DraftPosition, prepareDraft, type PreparedDraft } from './format/draft.ts';
export { type Entry, parseEntry, renderEntry } from './format/entry.ts';
export type { TaskNumbers } from './format/task-numbers.ts';
export { LEDGER_LIMITS } from './format/limits.ts';
export { emptyRoot, Frontier, leafHash, nodeHash, type TreeHead } from './format/merkle.ts';
export { verifyConsistency, verifyInclusion } from './format/merkle.ts';
export { Tree } from './format/tree.ts';
export { MemoryStore } from './memory-store.ts';
export { redactJson, redactText } from './redact.ts';
export type { Appended, Commit, Head, Range, Snapshot, Store } from './store.ts';
export type { StoredBlob, StoredCheckpoint, StoredEntry, Tile } from './store.ts';
export { exportLedger, type VerifiedExport, verifyExport } from './verify/export.ts';
export { type RememberedPosition, ResumableVerification } from './verify/resumable.ts';
export type { Completeness } from './verify/completeness.ts';
export { type ProvenEntry, renderTaskProof, type TaskProof } from './verify/proof-text.ts';
export { makeTaskProof, type ProvenTask, verifyTaskProof } from './verify/task-proof.ts';
export { type NotVerified, type Verified, verifyLedger, type VerifyOptions } from './verify/verify-ledger.ts';
export type { LedgerFault } from './verify/walk.ts';
export type { Parsed, Problem, Refused } from '../protocol/shape/problem.ts';
