import { canonicalJson } from '../format/canonical-json.ts';
import type { Entry } from '../format/entry.ts';

export const TASK_PROOF_KIND = 'baton-task-proof';

/** A file that proves one task's recorded history to a reader who has only the public key. */
export interface TaskProof {
  readonly kind: typeof TASK_PROOF_KIND;
  /** Version 2 ends with the count of the task's entries; version 1 has only entries of version 1. */
  readonly v: 1 | 2;
  readonly project: string;
  readonly task_id: string;
  /** The public key, as `name+id+base64`. Compare it with a trusted copy; the proof alone does not establish it. */
  readonly key: string;
  readonly checkpoint: string;
  readonly entries: readonly ProvenEntry[];
}

export interface ProvenEntry {
  readonly entry: Entry;
  /** The sibling hashes from the entry up to the root, in base64. */
  readonly proof: readonly string[];
}

/** The text of a proof file. No other text of the same JSON is accepted. */
export function renderTaskProof(proof: TaskProof): string {
  if (proof.v === 1) return `${JSON.stringify(proof, null, 2)}\n`;
  const text = canonicalJson(proof, 'integers', OUTER_DEPTH);
  if (!text.ok) throw new Error(text.problems[0].message);
  return `${text.value}\n`;
}

/** An entry is level 1, and three levels of the file surround it. */
const OUTER_DEPTH = -2;

/** Refuses fields that appear twice and other spellings. Proofs of version 1 were saved with indents or in one line. */
export function isProofText(value: unknown, v: TaskProof['v'], text: string): boolean {
  const given = text.endsWith('\n') ? text.slice(0, -1) : text;
  if (v === 1) return given === JSON.stringify(value, null, 2) || given === JSON.stringify(value);
  const canonical = canonicalJson(value, 'integers', OUTER_DEPTH);
  return canonical.ok && given === canonical.value;
}
