import type { ApiError } from '../../api/answer.ts';
import { isAncestor } from '../../git/commits.ts';
import type { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import { findSha } from '../../git/repository.ts';
import { readInside } from '../../git/worktree/read-inside.ts';
import { type EvidenceBundle, parseEvidenceBundle } from '../../protocol/evidence.ts';
import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';

export interface EvidenceSubject {
  readonly taskId: string;
  readonly missionId: string;
  /** The commit at which the session started; null for a manual claim, for which it is unknown. */
  readonly base: string | null;
  readonly recorded: readonly string[];
}

export interface EvidenceContext {
  readonly workspace: string;
  readonly own: Pick<OwnRepositoryImporter, 'with'>;
  readonly phase: string;
  /** Undefined if the caller holds no claim. A later check then refuses the signal. */
  readonly subject: EvidenceSubject | undefined;
}

export type ReadEvidence =
  | { readonly ok: true; readonly bytes: Uint8Array; readonly bundle: EvidenceBundle }
  | { readonly ok: false; readonly error: ApiError };

/**
 * The rest of check 8: the bundle is valid, inside the workspace after following links, and about this task, phase and
 * claim. The file is read once, so the checked bytes are those that the ledger keeps.
 */
export async function readEvidence(ref: string, where: EvidenceContext): Promise<ReadEvidence> {
  const { subject } = where;
  const bytes = await readInside(where.workspace, ref, MAX_BYTES);
  if (bytes === undefined) {
    const hint = 'Write the bundle into the workspace before you send the exit signal.';
    const message = `evidence_bundle_ref not found: '${ref}'`;
    return { ok: false, error: { code: 'evidence-not-found', message, hint } };
  }
  const parsed = parseEvidenceBundle(bytes);
  if (!parsed.ok) {
    const [{ message, hint }] = parsed.problems;
    return { ok: false, error: evidenceError(message, hint) };
  }
  const error = subject === undefined ? undefined : await findMismatch(parsed.value, where, subject);
  return error === undefined ? { ok: true, bytes, bundle: parsed.value } : { ok: false, error };
}

async function findMismatch(
  bundle: EvidenceBundle,
  where: EvidenceContext,
  subject: EvidenceSubject,
): Promise<ApiError | undefined> {
  const { task_id, phase, head_sha } = bundle;
  const { taskId, missionId } = subject;
  if (![taskId, missionId].includes(task_id))
    return evidenceError(`it is about ${task_id}, not ${taskId}`, `Correct task_id: ${taskId}`);
  if (phase !== where.phase)
    return evidenceError(`it is about ${phase}, not ${where.phase}`, `Correct phase: ${where.phase}`);
  if (await isOwnCommit(where, head_sha, subject)) return undefined;
  const [why, hint] = explainMismatch(subject);
  return evidenceError(`head_sha ${head_sha} is ${why}`, hint);
}

function explainMismatch({ base, recorded }: EvidenceSubject): readonly [why: string, hint: string] {
  if (base !== null) return ['not on the branch since this session began', 'Name the commit: git rev-parse HEAD'];
  const newest = recorded.at(-1);
  if (newest === undefined) return ['not HEAD', 'Name the commit: git rev-parse HEAD'];
  return [
    `not ${newest}, the commit of the newest record of this claim`,
    'Record the commit that the evidence is about: baton thought record FILE',
  ];
}

/**
 * Compares in Baton's own repository, where only Baton writes commits. For a manual claim only the newest record
 * counts, or HEAD without one. For a session that Baton started, every commit that it added counts.
 */
async function isOwnCommit(
  { workspace, own: copy }: Pick<EvidenceContext, 'workspace' | 'own'>,
  name: string,
  { base, recorded }: EvidenceSubject,
): Promise<boolean> {
  const head = await findSha(workspace, 'HEAD');
  if (head === null) return false;
  const own = await copy.with(head, ...recorded);
  if (!own.ok) return false;
  const sha = await findSha(own.value, name);
  if (sha === null) return false;
  if (base === null) return sha === (recorded.at(-1) ?? head);
  if (sha === head) return true;
  if (sha === base) return false;
  const [isAfterBase, isBeforeHead] = [await isAncestor(own.value, base, sha), await isAncestor(own.value, sha, head)];
  return isAfterBase.ok && isAfterBase.value && isBeforeHead.ok && isBeforeHead.value;
}

function evidenceError(message: string, hint: string): ApiError {
  return { code: 'invalid-evidence', message: `invalid evidence bundle: ${message}`, hint };
}

/** One byte over the limit, so that a larger message is detected. */
const MAX_BYTES = PROTOCOL_LIMITS.messageBytes + 1;
