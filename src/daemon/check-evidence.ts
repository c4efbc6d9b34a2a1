import type { ApiError } from '../api/answer.ts';
import { isAncestor } from '../git/commits.ts';
import { readInside } from '../git/read-inside.ts';
import { findSha } from '../git/repository.ts';
import { parseEvidenceBundle, type EvidenceBundle } from '../protocol/evidence.ts';
import { LIMITS } from '../protocol/limits.ts';
import type { StartedSession } from './find-session.ts';

export interface EvidenceOf {
  /** Where to look. */
  readonly workspace: string;
  readonly phase: string;
  readonly session: StartedSession | undefined;
}

/**
 * The rest of check 8: the bundle is there, inside the workspace after every link is followed, and is a valid one. Of a session that
 * Baton started it is also known what it must be about, and which commits it can have made.
 */
export async function checkEvidence(
  ref: string,
  { workspace, phase, session }: EvidenceOf,
): Promise<ApiError | undefined> {
  const bytes = await readInside(workspace, ref, MOST_BYTES);
  if (bytes === undefined) {
    const hint = 'Write the bundle into the workspace before you send the exit signal.';
    return { code: 'evidence-not-found', message: `evidence_bundle_ref not found: '${ref}'`, hint };
  }
  const parsed = parseEvidenceBundle(bytes);
  if (!parsed.ok) {
    const [{ message, hint }] = parsed.problems;
    return invalid(message, hint);
  }
  return session === undefined ? undefined : findFalse(parsed.value, phase, session);
}

async function findFalse(
  { task_id, phase, head_sha }: EvidenceBundle,
  completed: string,
  { prepared }: StartedSession,
): Promise<ApiError | undefined> {
  const own = [prepared.task_id, prepared.mission.task_id];
  if (!own.includes(task_id)) return invalid(`it is about ${task_id}, not ${prepared.task_id}`, 'Correct task_id.');
  if (phase !== completed) return invalid(`it is about ${phase}, not ${completed}`, 'Correct phase.');
  const sha = await findSha(prepared.workspace, head_sha);
  const isOn = sha === null ? null : await isAncestor(prepared.workspace, sha, 'HEAD');
  if (isOn?.ok === true && isOn.value) return undefined;
  return invalid(`head_sha ${head_sha} is not on the branch`, 'Name the commit: git rev-parse HEAD');
}

function invalid(message: string, hint: string): ApiError {
  return { code: 'invalid-evidence', message: `invalid evidence bundle: ${message}`, hint };
}

/** One byte more than is read as a message: what is larger is refused as such. */
const MOST_BYTES = LIMITS.messageBytes + 1;
