import type { ApiError } from '../../api/answer.ts';
import { isAncestor } from '../../git/commits.ts';
import { findFence } from '../../git/fence/install.ts';
import type { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import { findSha } from '../../git/repository.ts';
import { readInside } from '../../git/worktree/read-inside.ts';
import { findWorktree } from '../../git/worktree/worktree.ts';
import { redactText } from '../../ledger/redact.ts';
import { type EvidenceBundle, parseEvidenceBundle } from '../../protocol/evidence.ts';
import type { ExitSignal } from '../../protocol/exit-signal-shape.ts';
import { parseExitSignalIfEnabled } from '../../protocol/exit-signal.ts';
import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import { type ExitAnswer, isSameSignal } from '../../state/tasks/exit-session.ts';
import type { Task } from '../../state/tasks/task.ts';
import { measureOwn, type OwnSession, readOwnSession } from './agents.ts';
import { answerFor, type Call, type OperationHandler, problemAnswer, submitCommand } from './call.ts';

/** All thirteen checks of the specification, in its order. Changes are measured before the answer: later ones are not the session's. */
export const exitHandler: OperationHandler<ExitAnswer> = async (call) => {
  const { input, services } = call;
  const own = await readOwnSession(call);
  const parsed = parseExitSignalIfEnabled(input, undefined, own.usesExitProtocol);
  if (!parsed.ok) return problemAnswer(parsed.problems[0]);
  const signal = redactSignal(parsed.value, call.project.ledger.secrets);
  const error = await findBadEvidence(signal, call, own);
  if (error !== undefined) return { ok: false, error };
  const command = {
    signal,
    eventId: services.newId(),
    at: services.now().toISOString(),
    ...(await measureOwn(call, own)),
  };
  return answerFor(await submitCommand(call, { kind: 'exit-session', command }), (answer) => answer);
};

async function findBadEvidence(signal: ExitSignal, call: Call, own: OwnSession): Promise<ApiError | undefined> {
  const { evidence_bundle_ref: ref, phase_completed: phase } = signal;
  if (ref === undefined) return undefined;
  const { caller, project } = call;
  const { exit, prepared } = own.session ?? {};
  // A repeat gets the first answer, although the branch may have moved since.
  if (exit && isSameSignal(exit, signal)) return undefined;
  if (caller.kind !== 'session')
    return checkEvidence(ref, { workspace: project.path, own: project.own, phase, subject: undefined });
  const workspace = prepared?.workspace ?? (await findOwnWorktree(project.path, caller, own.task)) ?? project.path;
  return checkEvidence(ref, { workspace, own: project.own, phase, subject: subjectOf(own, caller.epoch) });
}

function subjectOf({ session, task, missionId }: OwnSession, epoch: number): EvidenceSubject | undefined {
  if (task === undefined) return undefined;
  const recorded = task.records.filter((record) => record.epoch === epoch);
  return {
    taskId: task.id,
    missionId,
    base: session?.prepared?.base ?? null,
    recorded: recorded.map(({ commitSha }) => commitSha.toLowerCase()),
  };
}

/** The worktree of a claim taken by hand: its fence names the claim. */
export async function findOwnWorktree(
  path: string,
  { taskId, epoch }: { readonly taskId: string; readonly epoch: number },
  task: Task | undefined,
): Promise<string | undefined> {
  const branch = task?.flow.branch ?? null;
  const found = branch === null ? undefined : await findWorktree(path, branch);
  if (found?.ok !== true || found.value === null) return undefined;
  const fence = await findFence(found.value.path);
  const isOwn = fence.ok && fence.value?.taskId === taskId && fence.value.epoch === epoch;
  return isOwn ? found.value.path : undefined;
}

/** The signal without credentials, as the ledger records it: a repeat is compared with that. */
function redactSignal(signal: ExitSignal, secrets: readonly string[]): ExitSignal {
  const { notes, pr_url } = signal;
  return {
    ...signal,
    ...(notes === undefined ? {} : { notes: redactText(notes, secrets) }),
    ...(pr_url === undefined ? {} : { pr_url: redactText(pr_url, secrets) }),
  };
}

export interface EvidenceSubject {
  readonly taskId: string;
  readonly missionId: string;
  /** Where the session began; null for a claim taken by hand, for which it is unknown. */
  readonly base: string | null;
  readonly recorded: readonly string[];
}

export interface EvidenceContext {
  readonly workspace: string;
  readonly own: Pick<OwnRepositoryImporter, 'with'>;
  readonly phase: string;
  /** Undefined if the caller holds no claim: a later check refuses the signal. */
  readonly subject: EvidenceSubject | undefined;
}

/** The rest of check 8: the bundle is valid, inside the workspace after following links, and about this task, phase and claim. */
export async function checkEvidence(ref: string, where: EvidenceContext): Promise<ApiError | undefined> {
  const { subject } = where;
  const bytes = await readInside(where.workspace, ref, MAX_BYTES);
  if (bytes === undefined) {
    const hint = 'Write the bundle into the workspace before you send the exit signal.';
    return { code: 'evidence-not-found', message: `evidence_bundle_ref not found: '${ref}'`, hint };
  }
  const parsed = parseEvidenceBundle(bytes);
  if (!parsed.ok) {
    const [{ message, hint }] = parsed.problems;
    return evidenceError(message, hint);
  }
  return subject === undefined ? undefined : findMismatch(parsed.value, where, subject);
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
 * Compares in Baton's own repository, where nobody else can forge commits. For a claim taken by hand only the newest record counts, or HEAD
 * without one. For a session that Baton started, every commit that it added counts.
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

/** One byte over the limit, so that a larger message is refused as too large. */
const MAX_BYTES = PROTOCOL_LIMITS.messageBytes + 1;
