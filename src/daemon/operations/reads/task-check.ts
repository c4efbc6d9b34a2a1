import { taskCheck, type TaskCheck } from '../../../api/operations/task-work.ts';
import { type CheckResult, ownChecks } from '../../../effects/merges/checks.ts';
import type { JudgeCheckRequest } from '../../../effects/merges/judge-checks.ts';
import { isJudging, MOST_CHECK_MS } from '../../../protocol/handoff/judge.ts';
import { type Caller, checkClaim } from '../../../state/caller.ts';
import { decided, type Outcome, refusal } from '../../../state/outcome.ts';
import { rulesFor } from '../../../state/rules.ts';
import { refuseUnknownTask } from '../../../state/tasks/create-task.ts';
import { judgedHead } from '../../../state/tasks/judging.ts';
import type { CheckPlan } from '../../../state/workflow/workflow-event.ts';
import type { DecideContext } from '../../loop/request.ts';
import { handlerFor, refusalOf, type Services } from '../call.ts';

/** Runs the project's checks for a session that judges, on the commit that it judges. */
export const taskCheckHandler = handlerFor(taskCheck, async ({ project, caller, services, input, signal }) => {
  if (caller.kind !== 'session') return refusalOf(NOT_JUDGING);
  const { names, wait_ms: waitMs = MOST_CHECK_MS } = input;
  const read = await project.commandLoop.read((view) => selectChecks(view, caller, names, services));
  if (!read.ok) return refusalOf(read);
  if (!read.answer.ok) return refusalOf(read.answer);
  const { sessionId, taskId } = caller;
  const { head, plans } = read.answer.answer;
  const request = { sessionId, taskId, head, checks: ownChecks(plans), waitMs };
  const ends = await project.judgeChecks?.run(request, signal ?? new AbortController().signal);
  if (ends === undefined) return refusalOf(NOT_STARTED);
  if (ends === 'busy') return refusalOf(BUSY);
  // The results are for the session, which may have ended meanwhile.
  const held = await project.commandLoop.read((view) => selectChecks(view, caller, undefined, services));
  if (held.ok && !held.answer.ok) return refusalOf(held.answer);
  const ended = new Set(ends.map(({ name }) => name));
  const notRun = plans.map(({ name }) => name).filter((name) => !ended.has(name));
  return { ok: true, result: { task_id: taskId, head, checks: ends.map(checkView), not_run: notRun } };
});

interface SelectedChecks extends Pick<JudgeCheckRequest, 'head'> {
  readonly plans: readonly CheckPlan[];
}

function selectChecks(
  { state, rules }: DecideContext,
  caller: Caller & { readonly kind: 'session' },
  names: readonly string[] | undefined,
  { rulebook }: Pick<Services, 'rulebook'>,
): Outcome<SelectedChecks> {
  const task = state.tasks.get(caller.taskId);
  if (task === undefined) return refuseUnknownTask(caller.taskId);
  const held = checkClaim(task, caller);
  if (!held.ok) return held;
  const { workflow } = rulebook.runbookFor(task);
  if (!isJudging({ role: held.claim.role, phase: task.phase }, workflow)) return NOT_JUDGING;
  const head = judgedHead(task);
  if (head === undefined)
    return refusal('no-commit-yet', `task ${task.id} has no commit yet`, 'Send the work back: handoff_send');
  const { checks = [] } = rulesFor(task, rules);
  const unknown = names?.find((name) => checks.every((check) => check.name !== name));
  if (unknown !== undefined) {
    const known = checks.map(({ name }) => name).join(', ');
    return refusal('bad-request', `the project has no check ${unknown}`, `Its checks: ${known || 'none'}`);
  }
  return decided([], { head, plans: checks.filter(({ name }) => names?.includes(name) ?? true) });
}

function checkView({ name, passed, exit_code, timed_out, durationMs, output, sandbox }: CheckResult) {
  return {
    name,
    passed,
    exit_code,
    timed_out,
    duration_ms: durationMs,
    output,
    sandbox: sandbox ?? null,
  } satisfies TaskCheck['checks'][number];
}

const NOT_JUDGING = refusal(
  'forbidden',
  'only a session that judges can run the checks of its task',
  'Run them in your shell. Baton runs them when your work is handed on.',
);
const BUSY = refusal(
  'checks-running',
  'this session already runs the checks',
  'Wait for the answer to your first call.',
);
const NOT_STARTED = refusal('store-unavailable', 'the project is still starting', 'Send this again in a moment.');
