import { findViolations } from '../../git/measures/violations.ts';
import { measureChange, type MeasuredChange, type MeasureRequest } from '../../git/measures/measure-change.ts';
import type { Result } from '../../protocol/result.ts';
import { isDiskFault, isShortage, isDiskFaultText, isShortageText } from '../../protocol/shortage.ts';
import { violationKinds } from '../../protocol/violation.ts';
import type { SessionPreparation } from '../../state/state.ts';
import type { WorkflowEvents } from '../../state/workflow/workflow-event.ts';

export interface SessionMeasures {
  /** Left out where the worktree cannot be measured; a violation says why. */
  readonly measured?: Omit<WorkflowEvents['SessionMeasured'], 'task_id' | 'epoch' | 'session_id' | 'violations'>;
  readonly violations: readonly string[];
  readonly committed: boolean;
}

/**
 * What a session has really done, from git and the lock files, and everything in it that breaks the mission or is not what the result
 * says. A worktree that cannot be looked at cannot be vouched for.
 */
export async function measureSession(
  {
    workspace,
    base,
    since,
    branch,
    mission,
  }: Pick<SessionPreparation, 'workspace' | 'base' | 'since' | 'branch' | 'mission'>,
  result: Result | null,
  { stateDir, own }: Pick<MeasureRequest, 'stateDir' | 'own'>,
): Promise<SessionMeasures> {
  const found = await tryMeasure(workspace, { base, branch, stateDir, own });
  if (!found.ok) return unmeasured(found.problem);
  const { value } = found;
  const whole = since === undefined ? found : await tryMeasure(workspace, { base: since, branch, stateDir, own });
  if (!whole.ok) return unmeasured(whole.problem);
  const violations = findViolations(mission.constraints ?? {}, value, result, whole.value);
  return {
    measured: { ...recordOf(value), broken: violationKinds(violations) },
    violations: violations.slice(0, MOST_NAMED).map(({ text }) => text.slice(0, MOST_CHARACTERS)),
    committed: value.head !== value.base || value.commits > 0,
  };
}

async function tryMeasure(
  ...args: Parameters<typeof measureChange>
): Promise<
  { readonly ok: true; readonly value: MeasuredChange } | { readonly ok: false; readonly problem: MeasureProblem }
> {
  try {
    return await measureChange(...args);
  } catch (error) {
    if (isShortage(error) || isDiskFault(error)) throw error;
    return { ok: false, problem: { message: error instanceof Error ? error.message : String(error) } };
  }
}

interface MeasureProblem {
  readonly message: string;
}

/** A full disk or a shortage says nothing about the session: it throws, and the caller tries again. */
function unmeasured({ message }: MeasureProblem): SessionMeasures {
  if (isDiskFaultText(message)) throw Object.assign(new Error(message), { code: 'ENOSPC' });
  if (isShortageText(message)) throw Object.assign(new Error(message), { code: 'EAGAIN' });
  return { violations: [`the worktree cannot be measured: ${message}`], committed: false };
}

const MOST_NAMED = 100;
const MOST_CHARACTERS = 400;
/** An entry of the ledger has room for so much. */
const MOST_PATH_CHARACTERS = 20_000;

function recordOf({
  base,
  head,
  commits,
  files,
  dependencies,
}: MeasuredChange): Omit<NonNullable<SessionMeasures['measured']>, 'broken'> {
  const kept: { path: string; action: string }[] = [];
  let room = MOST_PATH_CHARACTERS;
  for (const { path, action } of files) {
    room -= path.length + 40;
    if (room < 0) break;
    kept.push({ path, action });
  }
  const added = dependencies.added.map(({ ecosystem, name }) => `${ecosystem} ${name}`.slice(0, 200));
  return { base, head, commits, file_count: files.length, files: kept, new_dependencies: added.slice(0, MOST_NAMED) };
}
