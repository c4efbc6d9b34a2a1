import type { Answer, ApiError } from '../../api/answer.ts';
import type { InputOf } from '../../api/operations/registry.ts';
import type { IssuePlan } from '../../api/operations/runs.ts';
import { rehearse } from '../../engine/kernel.ts';
import { findProgram } from '../../notify/run-program.ts';
import { WORKFLOW_MODES } from '../../protocol/run-plan.ts';
import { didYouMean } from '../../protocol/shape/problem.ts';
import { issueArgs, issueRolePlayers, withLibrary } from '../../runbook/library.ts';
import { parseCommandArgs } from '../../runbook/parse-command-args.ts';
import { checksAnswerOf, describeSelection, ISSUE_WORKFLOW, type Runbook } from '../../runbook/runbook.ts';
import { actorOf } from '../../state/caller.ts';
import type { Command } from '../../state/decide.ts';
import type { Event } from '../../state/event.ts';
import { decided, type Outcome } from '../../state/outcome.ts';
import type { Rules } from '../../state/rules.ts';
import { type Effect, isStartEffect, processNumber } from '../../state/runs/effect.ts';
import { findChecksDeclined } from '../../state/workflow/decline-checks.ts';
import type { StartWorkflow } from '../../state/workflow/start-workflow.ts';
import type { DecideContext } from '../loop/request.ts';
import { sortedWorkers } from '../rules/rulebook.ts';
import { NO_CHECKS } from '../rules/start-obstacles.ts';
import { answerFor, type Call, inputErrorOf, submitCommand } from './call.ts';

export interface PlannedIssue {
  readonly command: StartWorkflow;
  readonly vars: Readonly<Record<string, string>>;
}

export function planIssue(
  runbook: Runbook,
  { args = [], description }: Pick<InputOf<'run_start'>, 'args' | 'description'>,
): Answer<PlannedIssue> {
  const given = parseCommandArgs({ name: ISSUE_WORKFLOW, args: issueArgs() }, args);
  if (!given.ok) return { ok: false, error: inputErrorOf(given) };
  const { title = '', task, mode: wanted, priority, id, after } = given.value;
  const unclear = findUnclear({ title, task, priority, id, after, description });
  if (unclear !== undefined) return { ok: false, error: unclear };
  const mode = WORKFLOW_MODES.find((each) => each === (wanted || runbook.mode));
  if (mode === undefined) {
    const message = `there is no mode '${wanted ?? ''}'`;
    const hint = didYouMean(wanted ?? '', WORKFLOW_MODES) ?? `Modes: ${WORKFLOW_MODES.join(', ')}.`;
    return { ok: false, error: { code: 'runbook/usage', message, hint } };
  }
  if (priority && !/^-?\d{1,6}$/.test(priority)) {
    const message = `--priority must be a whole number, not ${priority}`;
    return { ok: false, error: { code: 'runbook/usage', message, hint: 'The larger number comes first.' } };
  }
  const tasks = splitIds(task);
  if (tasks.length > MOST_TASKS) {
    const message = `${tasks.length} tasks are too many at once: at most ${MOST_TASKS}`;
    return { ok: false, error: { code: 'runbook/usage', message, hint: 'Start the tasks in several runs.' } };
  }
  const command: StartWorkflow = task
    ? { tasks, mode }
    : {
        title,
        mode,
        ...(id ? { id } : {}),
        ...(priority ? { priority: Number(priority) } : {}),
        ...(after ? { after: splitIds(after) } : {}),
        ...(description ? { description } : {}),
      };
  const vars = Object.fromEntries(Object.entries(given.value).filter(([, value]) => value !== ''));
  return { ok: true, result: { command, vars } };
}

/** The answer names all of them, and they are recorded in one entry. */
const MOST_TASKS = 200;

function splitIds(ids = ''): string[] {
  return ids
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/**
 * Requires exactly one of a title, which creates a task, and `--task`, which names existing ones. An existing task is
 * not changed.
 */
function findUnclear({ task, title, ...made }: Readonly<Record<string, string | undefined>>): ApiError | undefined {
  const usage = (message: string, hint: string): ApiError => ({ code: 'runbook/usage', message, hint });
  if (!task && !title) return usage('missing argument: [title] or --task <ids>', USAGE);
  const extra = Object.entries({ title, ...made }).find(([, value]) => value);
  if (!task || extra === undefined) return undefined;
  const what = ['title', 'description'].includes(extra[0]) ? `a ${extra[0]}` : `--${extra[0]}`;
  return usage(`${what} cannot be combined with --task: the task stays as it is`, USAGE);
}

const USAGE = `Usage: baton run ${ISSUE_WORKFLOW} ${issueArgs().text}`;

export function describeIssue(
  runbook: Runbook,
  mode: string,
  { pulls, env, isDeclined }: Pick<Rules, 'pulls'> & Found,
): IssuePlan {
  return {
    kind: 'workflow',
    mode,
    roles: issueRolePlayers(runbook),
    checks: runbook.ci.required.map(({ name, run }) => ({ name, run: run ?? null })),
    checks_answer: checksAnswerOf(runbook, isDeclined),
    workers: [...runbook.workers.values()].flatMap(({ name, run, ...selects }) =>
      run.kind === 'workflow' ? [{ name, takes: describeSelection(selects), mode: run.mode ?? runbook.mode }] : [],
    ),
    merge: { method: runbook.merge?.method ?? 'squash', into: runbook.merge?.into ?? null },
    pull_requests: pulls?.repository ?? null,
    lacks_gh: pulls !== undefined && findProgram('gh', env) === undefined,
  };
}

interface Found {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly isDeclined: boolean;
}

export function configureLibrary(runbook: Runbook): Command {
  return { kind: 'configure-workers', command: { workers: sortedWorkers(withLibrary(runbook)) } };
}

/** Makes the dry run of `--plan`, up to the first effects. */
export function previewRun(
  view: DecideContext,
  commands: readonly Command[],
  newId: () => string,
): Outcome<{ readonly entries: readonly Event[]; readonly effects: readonly PlannedEffect[] }> {
  const rehearsed = rehearse({ ...view, newId }, commands, { kind: 'operator', name: 'plan' });
  if (!rehearsed.ok) return rehearsed;
  const entries = rehearsed.steps.map(({ event }) => event);
  const effects = [...rehearsed.answer.effects.values()].filter(({ key }) => !view.state.effects.has(key));
  return decided([], { entries, effects: effects.map(plannedEffect) });
}

interface PlannedEffect {
  readonly kind: string;
  readonly key: string;
  readonly [field: string]: unknown;
}

/** The wire form of an effect. A plan stops at the first effects of a run, so no others occur. */
function plannedEffect(effect: Effect): PlannedEffect {
  const { key, type, data } = effect;
  if (isStartEffect(effect))
    return { kind: 'start-agent', key, agentId: effect.data.agent_id, start: processNumber(effect) };
  switch (type) {
    case 'CommandRequested': {
      const { command_id: commandId, subject, command, timeout_ms: timeoutMs } = data;
      return { kind: 'run-command', key, commandId, subject, command, timeoutMs };
    }
    case 'WorkspaceRequested': {
      const { pipeline_id: pipelineId, step, branch, base } = data;
      return { kind: 'prepare-workspace', key, pipelineId, step, branch, base };
    }
    case 'TimerSet': {
      const { timer_id: timerId, due, purpose } = data;
      return { kind: 'wait', key, timerId, due, purpose };
    }
    case 'NotificationRequested': {
      const { notification_id: notificationId, kind: about, title, message, decision_id: decisionId } = data;
      return { kind: 'notify', key, notificationId, about, title, message, decisionId };
    }
    default:
      return { kind: type, key };
  }
}

/**
 * Refuses to start a workflow unless its checks are decided: by `ci.required`, which may be empty, or by an operator.
 */
export async function requireChecksAnswer(
  call: Call<{ readonly accept_no_checks?: boolean }>,
  runbook: Runbook,
): Promise<Extract<Answer, { ok: false }> | undefined> {
  if (runbook.ci.isSet) return undefined;
  const declined = await isDeclined(call);
  if (!declined.ok) return declined;
  if (declined.result) return undefined;
  if (call.input.accept_no_checks !== true) return { ok: false, error: NO_CHECKS };
  const command = { by: actorOf(call.caller) };
  // This is a separate command, so it must not use the run's idempotency key.
  const { key: _, ...keyless } = call;
  const recorded = answerFor(await submitCommand(keyless, { kind: 'decline-checks', command }), () => null);
  return recorded.ok ? undefined : recorded;
}

export async function isDeclined({ project }: Pick<Call, 'project'>): Promise<Answer<boolean>> {
  return answerFor(await project.commandLoop.read(({ state }) => findChecksDeclined(state) !== undefined), (is) => is);
}
