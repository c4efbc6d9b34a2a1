import type { Answer, ApiError } from '../../api/answer.ts';
import { findProgram } from '../../notify/run-program.ts';
import { checksAnswerOf } from '../../runbook/describe-checks.ts';
import { ISSUE_WORKFLOW, issueArgs, issueRolePlayers } from '../../runbook/issue.ts';
import { withLibrary } from '../../runbook/library.ts';
import { parseCommandArgs } from '../../runbook/parse-command-args.ts';
import { WORKFLOW_MODES, type Runbook } from '../../runbook/runbook.ts';
import type { Command } from '../../state/decide.ts';
import type { Rules } from '../../state/rules.ts';
import type { StartWorkflow } from '../../state/workflow/start-workflow.ts';
import { inputErrorOf } from './handler.ts';
import { sortedWorkers } from '../rules/rules-of.ts';

export interface PlannedIssue {
  readonly command: StartWorkflow;
  readonly vars: Readonly<Record<string, string>>;
}

/** What was typed after `baton run issue`, as the command that starts it. */
export function planIssue(runbook: Runbook, argv: readonly string[]): Answer<PlannedIssue> {
  const given = parseCommandArgs({ name: ISSUE_WORKFLOW, args: issueArgs() }, argv);
  if (!given.ok) return { ok: false, error: inputErrorOf(given) };
  const { title = '', task, mode: wanted, priority, id, after } = given.value;
  const unclear = findUnclear({ title, task, priority, id, after });
  if (unclear !== undefined) return { ok: false, error: unclear };
  const mode = WORKFLOW_MODES.find((each) => each === (wanted || runbook.mode));
  if (mode === undefined) {
    const message = `there is no mode '${wanted ?? ''}'`;
    return { ok: false, error: { code: 'runbook/usage', message, hint: `Modes: ${WORKFLOW_MODES.join(', ')}.` } };
  }
  if (priority && !/^-?\d{1,6}$/.test(priority)) {
    const message = `--priority must be a whole number, not ${priority}`;
    return { ok: false, error: { code: 'runbook/usage', message, hint: 'The larger number comes first.' } };
  }
  const command: StartWorkflow = task
    ? { task, mode }
    : {
        title,
        mode,
        ...(id ? { id } : {}),
        ...(priority ? { priority: Number(priority) } : {}),
        ...(after ? { after: after.split(',').map((each) => each.trim()) } : {}),
      };
  const vars = Object.fromEntries(Object.entries(given.value).filter(([, value]) => value !== ''));
  return { ok: true, result: { command, vars } };
}

/** A title makes a task, `--task` names one: exactly one of them, and a task that is there keeps what it has. */
function findUnclear({ task, title, ...made }: Readonly<Record<string, string | undefined>>): ApiError | undefined {
  const usage = (message: string, hint: string): ApiError => ({ code: 'runbook/usage', message, hint });
  if (!task && !title) return usage('missing argument: [title] or --task <id>', USAGE);
  const extra = Object.entries({ title, ...made }).find(([, value]) => value);
  if (!task || extra === undefined) return undefined;
  const what = extra[0] === 'title' ? 'a title' : `--${extra[0]}`;
  return usage(`${what} does not go with --task: that task is taken as it is`, USAGE);
}

const USAGE = `Usage: baton run ${ISSUE_WORKFLOW} ${issueArgs().text}`;

/** The workflow in words: who plays which role, what is checked, how it is merged. */
export function describeIssue(
  runbook: Runbook,
  mode: string,
  { pulls, env, isDeclined }: Pick<Rules, 'pulls'> & Found,
) {
  return {
    kind: 'workflow',
    mode,
    roles: issueRolePlayers(runbook),
    checks: runbook.ci.required.map(({ name, run }) => ({ name, run: run ?? null })),
    checks_answer: checksAnswerOf(runbook, isDeclined),
    merge: { method: runbook.merge?.method ?? 'squash', into: runbook.merge?.into ?? null },
    pull_requests: pulls?.repository ?? null,
    lacks_gh: pulls !== undefined && findProgram('gh', env) === undefined,
  };
}

interface Found {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** An operator answered that nothing is checked. */
  readonly isDeclined: boolean;
}

/** What a first workflow in a project does before it begins. */
export function configureLibrary(runbook: Runbook): Command {
  return { kind: 'configure-workers', command: { workers: sortedWorkers(withLibrary(runbook)) } };
}
