import type { Answer, ApiError } from '../../api/answer.ts';
import { findFence } from '../../git/fence/install.ts';
import { findWorktree } from '../../git/worktree/worktree.ts';
import { redactText } from '../../ledger/redact.ts';
import { storeTextBlob } from '../../ledger/snapshots-and-blobs.ts';
import type { EvidenceBundle } from '../../protocol/evidence.ts';
import type { ExitSignal } from '../../protocol/exit-signal/exit-signal-shape.ts';
import { parseExitSignalIfEnabled } from '../../protocol/exit-signal/exit-signal.ts';
import { type Command, decide } from '../../state/decide.ts';
import { type ExitAnswer, type ExitSession, isSameSignal } from '../../state/tasks/exit-session.ts';
import type { SessionEvidence } from '../../state/tasks/record-evidence.ts';
import type { Task } from '../../state/tasks/task.ts';
import { measureOwn, type OwnSession, readOwnSession } from './agents.ts';
import {
  answerFor,
  type Call,
  type OperationHandler,
  problemAnswer,
  refusalOf,
  storeUnavailableError,
  submitCommand,
} from './call.ts';
import { type EvidenceSubject, readEvidence } from '../project/read-evidence.ts';

/**
 * Makes the thirteen checks of the specification, in its order. Changes are measured before the answer, because later
 * ones are not the session's.
 */
export const exitHandler: OperationHandler<ExitAnswer> = async (call) => {
  const { input, services } = call;
  const own = await readOwnSession(call);
  const parsed = parseExitSignalIfEnabled(input, undefined, own.usesExitProtocol);
  if (!parsed.ok) return problemAnswer(parsed.problems[0]);
  const signal = redactSignal(parsed.value, call.project.ledger.secrets);
  const shown = await checkEvidence(signal, call, own);
  if (!shown.ok) return shown;
  const command = {
    signal,
    eventId: services.newId(),
    at: services.now().toISOString(),
    ...(await measureOwn(call, own)),
  };
  const kept = shown.evidence === undefined ? undefined : await keepEvidence(shown.evidence, call, command);
  if (kept?.ok === false) return kept;
  const evidence = kept === undefined ? {} : { evidence: kept.result };
  return answerFor(
    await submitCommand(call, { kind: 'exit-session', command: { ...command, ...evidence } }),
    (answer) => answer,
  );
};

interface CheckedEvidence {
  readonly ref: string;
  readonly bytes: Uint8Array;
  readonly bundle: EvidenceBundle;
}

type EvidenceCheck =
  | { readonly ok: true; readonly evidence?: CheckedEvidence }
  | { readonly ok: false; readonly error: ApiError };

async function checkEvidence(signal: ExitSignal, call: Call, own: OwnSession): Promise<EvidenceCheck> {
  const { evidence_bundle_ref: ref, phase_completed: phase } = signal;
  if (ref === undefined) return { ok: true };
  const { caller, project } = call;
  const { exit, prepared } = own.session ?? {};
  // A repeated signal gets the first answer, even if the branch has moved since.
  if (exit && isSameSignal(exit, signal)) return { ok: true };
  const isSession = caller.kind === 'session';
  const worktree = isSession ? (prepared?.workspace ?? (await findOwnWorktree(project.path, caller, own.task))) : null;
  const subject = isSession ? subjectOf(own, caller.epoch) : undefined;
  const read = await readEvidence(ref, { workspace: worktree ?? project.path, own: project.own, phase, subject });
  return read.ok ? { ok: true, evidence: { ref, bytes: read.bytes, bundle: read.bundle } } : read;
}

/**
 * Stores the bytes of a bundle before the entry that names them is recorded. A signal that would be refused stores
 * nothing, because blobs that no entry names are never removed.
 */
async function keepEvidence(
  { ref, bytes, bundle }: CheckedEvidence,
  { project, caller }: Call,
  command: ExitSession,
): Promise<Answer<SessionEvidence>> {
  const exit: Command = { kind: 'exit-session', command };
  const tried = await project.commandLoop.read(({ state, rules, here }) => decide(state, exit, caller, rules, here));
  if (!tried.ok) return refusalOf(tried);
  if (!tried.answer.ok) return refusalOf(tried.answer);
  const { store, sha256, secrets } = project.ledger;
  const kept = await storeTextBlob(store, sha256, decoder.decode(bytes), secrets);
  if (!kept.ok) return { ok: false, error: storeUnavailableError(kept.problems[0]) };
  return { ok: true, result: { ref, blob: kept.value, bundle: redactBundle(bundle, secrets) } };
}

/** Keeps a byte order mark, so that the blob has the bytes of the file. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Redacts before a text is cut, because half a credential is not recognised. */
function redactBundle(bundle: EvidenceBundle, secrets: readonly string[]): EvidenceBundle {
  const redact = (text: string): string => redactText(text, secrets);
  const { commands, decisions = [], failed_approaches = [], next_step } = bundle;
  return {
    ...bundle,
    commands: commands.map((command) => ({ ...command, run: redact(command.run) })),
    decisions: decisions.map(redact),
    failed_approaches: failed_approaches.map(redact),
    next_step: redact(next_step),
  };
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

/** Finds the worktree of a manual claim. Its fence names the claim. */
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

/** Removes credentials from the signal, as the ledger does. A repeated signal is compared with that. */
function redactSignal(signal: ExitSignal, secrets: readonly string[]): ExitSignal {
  const { notes, pr_url } = signal;
  return {
    ...signal,
    ...(notes === undefined ? {} : { notes: redactText(notes, secrets) }),
    ...(pr_url === undefined ? {} : { pr_url: redactText(pr_url, secrets) }),
  };
}
