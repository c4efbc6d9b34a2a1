import type { ApiError } from '../api/answer.ts';
import { isAncestor } from '../git/commits.ts';
import type { OwnCopy } from '../git/own/import-commits.ts';
import { readInside } from '../git/read-inside.ts';
import { findSha } from '../git/repository.ts';
import { parseEvidenceBundle, type EvidenceBundle } from '../protocol/evidence.ts';
import { LIMITS } from '../protocol/limits.ts';

/** What a bundle must be about: the caller's task, and commits that this claim can have made. */
export interface EvidenceSubject {
  readonly taskId: string;
  /** The id that the session's mission uses; the same as `taskId` if that would name another task. */
  readonly missionId: string;
  /** The commit that the session began at; null for a claim taken by hand, of which Baton does not know it. */
  readonly base: string | null;
  /** The commits of the records that were made under this claim. */
  readonly recorded: readonly string[];
}

export interface EvidenceOf {
  /** The folder that the reference is relative to. */
  readonly workspace: string;
  /** Baton's own copy of the commits. */
  readonly own: Pick<OwnCopy, 'with'>;
  /** The phase that the signal completes. */
  readonly phase: string;
  /** Undefined if the caller holds no claim: a later check refuses the signal. */
  readonly subject: EvidenceSubject | undefined;
}

/**
 * The rest of check 8: the bundle exists inside the workspace after every link is followed, is valid, and is about the caller's own task,
 * this phase and a commit of this claim.
 */
export async function checkEvidence(ref: string, where: EvidenceOf): Promise<ApiError | undefined> {
  const { subject } = where;
  const bytes = await readInside(where.workspace, ref, MOST_BYTES);
  if (bytes === undefined) {
    const hint = 'Write the bundle into the workspace before you send the exit signal.';
    return { code: 'evidence-not-found', message: `evidence_bundle_ref not found: '${ref}'`, hint };
  }
  const parsed = parseEvidenceBundle(bytes);
  if (!parsed.ok) {
    const [{ message, hint }] = parsed.problems;
    return invalid(message, hint);
  }
  return subject === undefined ? undefined : findMismatch(parsed.value, where, subject);
}

async function findMismatch(
  bundle: EvidenceBundle,
  where: EvidenceOf,
  subject: EvidenceSubject,
): Promise<ApiError | undefined> {
  const { task_id, phase, head_sha } = bundle;
  const { taskId, missionId } = subject;
  if (![taskId, missionId].includes(task_id))
    return invalid(`it is about ${task_id}, not ${taskId}`, `Correct task_id: ${taskId}`);
  if (phase !== where.phase)
    return invalid(`it is about ${phase}, not ${where.phase}`, `Correct phase: ${where.phase}`);
  if (await isOwnCommit(where, head_sha, subject)) return undefined;
  const place = subject.base === null ? 'neither HEAD nor the commit of a record of this claim' : NOT_OWN;
  return invalid(`head_sha ${head_sha} is ${place}`, 'Name the commit: git rev-parse HEAD');
}

const NOT_OWN = 'not on the branch since this session began';

/** Commits are compared in Baton's own repository, where their names stand for what they are. */
async function isOwnCommit(
  { workspace, own: copy }: Pick<EvidenceOf, 'workspace' | 'own'>,
  name: string,
  { base, recorded }: EvidenceSubject,
): Promise<boolean> {
  const head = await findSha(workspace, 'HEAD');
  if (head === null) return false;
  const own = await copy.with(head, ...recorded);
  if (!own.ok) return false;
  const sha = await findSha(own.value, name);
  if (sha === null) return false;
  if (sha === head) return true;
  if (base === null) return recorded.includes(sha);
  const [isAfterBase, isBeforeHead] = [await isAncestor(own.value, base, sha), await isAncestor(own.value, sha, head)];
  return isAfterBase.ok && isAfterBase.value && isBeforeHead.ok && isBeforeHead.value;
}

function invalid(message: string, hint: string): ApiError {
  return { code: 'invalid-evidence', message: `invalid evidence bundle: ${message}`, hint };
}

/** One byte more than is read as a message: what is larger is refused as such. */
const MOST_BYTES = LIMITS.messageBytes + 1;
