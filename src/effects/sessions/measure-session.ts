import { measureChange, type MeasuredChange, type MeasureRequest } from '../../git/measures/measure-change.ts';
import { findViolations } from '../../git/measures/violations.ts';
import { violationKinds } from '../../protocol/agent-session-completed.ts';
import { isDiskFault, isDiskFaultText, isShortage, isShortageText } from '../../protocol/resource-faults.ts';
import type { Result } from '../../protocol/result.ts';
import type { RecordedEvent } from '../../state/event.ts';
import { isHere } from '../../state/fleet/owner.ts';
import { mainWithout } from '../../state/main/main-branch.ts';
import type { SessionPreparation, State } from '../../state/state.ts';
import type { Task } from '../../state/tasks/task.ts';
import { constraintsInForce } from '../../state/tasks/waive-constraint.ts';
import type { WorkflowEvents } from '../../state/workflow/workflow-event.ts';
import type { EffectContext } from '../context.ts';

export interface SessionMeasures {
  /** Absent if the worktree cannot be measured. A violation then states why. */
  readonly measured?: Omit<WorkflowEvents['SessionMeasured'], 'task_id' | 'epoch' | 'session_id' | 'violations'>;
  readonly violations: readonly string[];
  readonly committed: boolean;
}

/**
 * Measures a session's changes from git and lock files, and lists what violates its mission or contradicts its result.
 * A worktree that cannot be read counts as a violation.
 */
export async function measureSession(
  prepared: Pick<SessionPreparation, 'workspace' | 'base' | 'since' | 'branch' | 'mission'>,
  result: Result | null,
  {
    stateDir,
    own,
    main,
    task,
  }: Pick<MeasureRequest, 'stateDir' | 'own' | 'main'> & { readonly task?: Task | undefined },
): Promise<SessionMeasures> {
  const { workspace, base, since, branch, mission } = prepared;
  const found = await tryMeasure(workspace, { base, branch, stateDir, own, main });
  if (!found.ok) return unmeasured(found.problem);
  const { value } = found;
  const whole = since === undefined ? found : await tryMeasure(workspace, { base: since, branch, stateDir, own, main });
  if (!whole.ok) return unmeasured(whole.problem);
  const violations = findViolations(constraintsInForce(mission.constraints, task), value, result, whole.value);
  const ofWhole = since === undefined ? {} : { whole_file_count: whole.value.files.length };
  return {
    measured: { ...recordOf(value), ...ofWhole, broken: violationKinds(violations) },
    violations: violations.slice(0, MOST_NAMED).map(({ text }) => text.slice(0, MOST_CHARACTERS)),
    committed: value.head !== value.base || value.commits > 0,
  };
}

async function tryMeasure(...args: Parameters<typeof measureChange>) {
  try {
    return await measureChange(...args);
  } catch (error) {
    if (isShortage(error) || isDiskFault(error)) throw error;
    return { ok: false, problem: { message: error instanceof Error ? error.message : String(error) } } as const;
  }
}

/** A full disk or a shortage is not the session's fault, so this throws and the caller retries. */
function unmeasured({ message }: { readonly message: string }): SessionMeasures {
  if (isDiskFaultText(message)) throw Object.assign(new Error(message), { code: 'ENOSPC' });
  if (isShortageText(message)) throw Object.assign(new Error(message), { code: 'EAGAIN' });
  return { violations: [`the worktree cannot be measured: ${message}`], committed: false };
}

const MOST_NAMED = 100;
const MOST_CHARACTERS = 400;
/** Keeps the entry within its size limit. */
const MOST_PATH_CHARACTERS = 20_000;

function recordOf(change: MeasuredChange): Omit<NonNullable<SessionMeasures['measured']>, 'broken'> {
  const { base, head, main, commits, files, dependencies } = change;
  const kept: { path: string; action: string }[] = [];
  let room = MOST_PATH_CHARACTERS;
  for (const { path, action } of files) {
    room -= path.length + 40;
    if (room < 0) break;
    kept.push({ path, action });
  }
  const added = dependencies.added.map(({ ecosystem, name }) => `${ecosystem} ${name}`.slice(0, 200));
  const compared = { base, head, ...(main === null ? {} : { main }) };
  return { ...compared, commits, file_count: files.length, files: kept, new_dependencies: added.slice(0, MOST_NAMED) };
}

type MeasuringContext = Pick<
  EffectContext,
  'readState' | 'submit' | 'path' | 'stateDir' | 'ownRepository' | 'here' | 'recordMainMoves'
>;

/** Measures sessions that ended without an exit signal. The others are measured before their response. */
export class SessionMeasuring {
  readonly #context: MeasuringContext;

  constructor(context: MeasuringContext) {
    this.#context = context;
  }

  async recover(state: State): Promise<void> {
    const unmeasured: string[] = [];
    for (const { claim, endings } of state.tasks.values()) {
      const last = state.sessions.get(endings.at(-1)?.sessionId ?? '');
      if (claim === null && last?.prepared !== undefined && last.measured !== true) unmeasured.push(last.id);
    }
    for (const id of unmeasured) await this.measure(id);
  }

  async onRecorded(recorded: readonly RecordedEvent[]): Promise<void> {
    for (const { type, data } of recorded) {
      if (type.startsWith('Claim') && 'session_id' in data) await this.measure(data.session_id);
    }
  }

  async measure(sessionId: string): Promise<void> {
    await this.#context.recordMainMoves();
    const found = await this.#context.readState((state) => {
      const session = state.sessions.get(sessionId);
      const { prepared, measured, taskId, epoch, result } = session ?? {};
      const task = state.tasks.get(taskId ?? '');
      const isNewest = task?.epoch === epoch && isHere(task?.work ?? { host: null }, state, this.#context.here());
      if (prepared === undefined || measured === true || !isNewest || prepared.workspace === this.#context.path)
        return undefined;
      const timedOut = [...state.agents.values()].some(
        ({ task, exit }) => task?.session_id === sessionId && exit?.timedOut === true,
      );
      return { prepared, result: result ?? null, timedOut, task, main: mainWithout(state, task) };
    });
    if (found === undefined) return;
    const { prepared, result, timedOut, task, main } = found;
    const { stateDir, ownRepository } = this.#context;
    const { measured, violations } = await measureSession(prepared, result, {
      stateDir,
      own: ownRepository,
      main,
      task,
    });
    if (measured === undefined) return;
    const tooLong = timedOut ? [`timeout: ended after ${prepared.mission.timeout ?? 0} seconds`] : [];
    const broken = timedOut ? [...measured.broken, 'timeout' as const] : measured.broken;
    await this.#context.submit({
      kind: 'measure-session',
      command: { sessionId, measured: { ...measured, broken }, violations: [...violations, ...tooLong] },
    });
  }
}
