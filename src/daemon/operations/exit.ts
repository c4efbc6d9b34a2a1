import type { ApiError } from '../../api/answer.ts';
import { findFence } from '../../git/fence/install.ts';
import { findWorktree } from '../../git/worktree/worktree.ts';
import { redactText } from '../../ledger/redact.ts';
import { parseExitSignalIfEnabled } from '../../protocol/exit-flag.ts';
import type { ExitSignal } from '../../protocol/exit-signal-shape.ts';
import { isSameSignal, type ExitAnswer } from '../../state/tasks/exit-session.ts';
import { missionIds } from '../../state/tasks/task.ts';
import { checkEvidence, type EvidenceSubject } from './check-evidence.ts';
import type { Call } from './call.ts';
import { isExitProtocolOn, measureOwn } from './find-session.ts';
import { answerFor, type OperationHandler } from './handler.ts';
import { submitCommand } from './tasks.ts';

/**
 * The exit signal: all thirteen checks of the specification, in its order, then the end of the session. What the session really did is
 * measured before it is answered: whatever comes after the answer is not its work any more.
 */
export const exitHandler: OperationHandler = async (call) => {
  const { input, services } = call;
  const parsed = parseExitSignalIfEnabled(input, undefined, await isExitProtocolOn(call));
  if (!parsed.ok) {
    const [{ code, message, hint }] = parsed.problems;
    return { ok: false, error: { code, message, hint } };
  }
  const signal = redactSignal(parsed.value, call.project.ledger.secrets);
  const error = await findBadEvidence(signal, call);
  if (error !== undefined) return { ok: false, error };
  const command = {
    signal,
    eventId: services.newId(),
    at: services.now().toISOString(),
    ...(await measureOwn(call)),
  };
  return answerFor(await submitCommand<ExitAnswer>(call, { kind: 'exit-session', command }), (answer) => answer);
};

async function findBadEvidence(signal: ExitSignal, call: Call): Promise<ApiError | undefined> {
  const { evidence_bundle_ref: ref, phase_completed: phase } = signal;
  if (ref === undefined) return undefined;
  const known = await findSubject(call, signal);
  // A repeat gets the first answer, although the branch has moved on since.
  if (known?.isRepeat === true) return undefined;
  const workspace = known?.workspace ?? (await findOwnWorktree(call)) ?? call.project.path;
  return checkEvidence(ref, { workspace, own: call.project.own, phase, subject: known?.subject });
}

interface ExitSubject {
  readonly isRepeat: boolean;
  /** Undefined for a claim taken by hand. */
  readonly workspace: string | undefined;
  readonly subject: EvidenceSubject | undefined;
}

/** What the state says about the caller's claim. */
async function findSubject({ caller, project }: Call, signal: ExitSignal): Promise<ExitSubject | undefined> {
  if (caller.kind !== 'session') return undefined;
  const settled = await project.commandLoop.read(({ state }): ExitSubject => {
    const { exit, prepared } = state.sessions.get(caller.sessionId) ?? {};
    const task = state.tasks.get(caller.taskId);
    const isAgain = exit !== undefined && exit !== null && isSameSignal(exit, signal);
    return {
      isRepeat: isAgain,
      workspace: prepared?.workspace,
      subject: task && {
        taskId: task.id,
        missionId: state.tasks.has(missionIds(task).taskId) ? task.id : missionIds(task).taskId,
        base: prepared?.base ?? null,
        recorded: task.records
          .filter(({ epoch }) => epoch === caller.epoch)
          .map(({ commitSha }) => commitSha.toLowerCase()),
      },
    };
  });
  return settled.ok ? settled.answer : undefined;
}

/** Where a claim taken by hand is at work, if it asked for a worktree: its fence says whose it is. */
async function findOwnWorktree({ caller, project }: Call): Promise<string | undefined> {
  if (caller.kind !== 'session') return undefined;
  const { taskId, epoch } = caller;
  const branch = await project.commandLoop.read(({ state }) => state.tasks.get(taskId)?.flow.branch ?? null);
  if (!branch.ok || branch.answer === null) return undefined;
  const found = await findWorktree(project.path, branch.answer);
  if (!found.ok || found.value === null) return undefined;
  const fence = await findFence(found.value.path);
  const isOwn = fence.ok && fence.value?.taskId === taskId && fence.value.epoch === epoch;
  return isOwn ? found.value.path : undefined;
}

/** As the ledger will have it: what is redacted there must be redacted here, or a repeat of the signal would look like another. */
function redactSignal(signal: ExitSignal, secrets: readonly string[]): ExitSignal {
  const { notes, pr_url } = signal;
  return {
    ...signal,
    ...(notes === undefined ? {} : { notes: redactText(notes, secrets) }),
    ...(pr_url === undefined ? {} : { pr_url: redactText(pr_url, secrets) }),
  };
}
