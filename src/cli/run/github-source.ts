import type { ApiError, OrError } from '../../api/answer.ts';
import type { InputOf, ResultOf } from '../../api/operations/registry.ts';
import { parseGithubIssues } from '../../exchange/github.ts';
import type { ExchangedTask } from '../../exchange/task.ts';
import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import { quote } from '../../protocol/shape/problem.ts';
import { utf8Length } from '../../protocol/text/text-format.ts';
import { ISSUE_WORKFLOW } from '../../runbook/runbook.ts';
import { withClient } from '../ask.ts';
import type { Io, ParsedArguments } from '../command.ts';
import { importInput } from '../task/import.ts';
import { type KnownTask, readKnownTasks } from '../task/known-tasks.ts';
import { printable } from '../text.ts';

type Issue = ResultOf<'github_issues'>['issues'][number];

/** The input of `run_start` for the issues that `--from-github` names. */
interface GithubTasks {
  readonly args: readonly string[];
  readonly imports?: Pick<InputOf<'run_start'>, 'import'>;
}

/** Reads the issues, and builds tasks for those without one. Nothing is recorded before the run starts. */
export async function findGithubTasks(
  { options, ...given }: ParsedArguments,
  io: Io,
): Promise<GithubTasks | { readonly error: ApiError }> {
  const typed = options.get('from-github');
  if (typed === undefined) return { args: [] };
  if (given.args[0] !== ISSUE_WORKFLOW) return { error: FOR_ISSUE };
  const issues = typed.split(',').filter((each) => each.trim() !== '');
  return withClient({ options, ...given }, io, async (client) => {
    const answer = await client.call('github_issues', { issues }, { timeoutMs: READ_MS });
    if (!answer.ok) return answer;
    const known = await readKnownTasks(client);
    if (!known.ok) return known;
    const made = tasksFrom(answer.result.issues, known.tasks);
    if (!made.ok) return made;
    for (const notice of made.notices) io.err(`note: ${printable(notice)}\n`);
    const { fresh, ids } = made;
    const source = `GitHub (${[...new Set(answer.result.issues.map(({ repository }) => repository))].join(', ')})`;
    return {
      args: ['--task', ids.join(',')],
      ...(fresh.length === 0 ? {} : { imports: { import: { source, tasks: fresh.map(importInput) } } }),
    };
  });
}

const READ_MS = 120_000;

const FOR_ISSUE: ApiError = {
  code: 'runbook/usage',
  message: '--from-github works only with the built-in workflow',
  hint: 'Usage: baton run issue --from-github 12',
};

type Made = OrError<{
  readonly ids: readonly string[];
  /** Issues that are not tasks yet. */
  readonly fresh: readonly ExchangedTask[];
  readonly notices: readonly string[];
}>;

/** A task's id is the number of its issue. A task that was imported earlier is used unchanged. */
export function tasksFrom(issues: readonly Issue[], known: readonly KnownTask[]): Made {
  const unfit = issues.find((issue) => issue.state === 'CLOSED');
  if (unfit !== undefined) return { ok: false, error: closedIssue(unfit) };
  const text = JSON.stringify(issues.map(toGhForm));
  const read = parseGithubIssues(text, { known: new Set(known.map(({ id }) => id)) });
  if (!read.ok) {
    const [{ code, message, hint }] = read.problems;
    return { ok: false, error: { code, message, hint } };
  }
  const fresh: ExchangedTask[] = [];
  for (const task of read.value.tasks) {
    const there = known.find(({ id }) => id === task.id);
    const issue = issues.find(({ number }) => String(number) === task.id);
    if (issue === undefined) continue;
    if (there !== undefined && there.issueUrl !== issue.url) return { ok: false, error: otherTask(there, issue) };
    if (there === undefined && task.status === 'blocked') return { ok: false, error: blockedIssue(issue) };
    // An issue in progress also starts as a new task here.
    if (there === undefined) fresh.push({ ...task, status: 'todo', description: withinLimit(task.description, issue) });
  }
  const ids = read.value.tasks.map(({ id }) => id);
  return { ok: true, ids, fresh, notices: read.value.notices.map(({ message }) => message) };
}

/** The form of `gh issue list --json`. */
function toGhForm({ labels, state_reason: stateReason, ...issue }: Issue): object {
  return { ...issue, stateReason, labels: labels.map((name) => ({ name })) };
}

function closedIssue({ number, url }: Issue): ApiError {
  const hint = `If there is more to do: gh issue reopen ${url}`;
  return { code: 'import/issue-closed', message: `issue #${number} is closed: ${url}`, hint };
}

function blockedIssue({ number, url }: Issue): ApiError {
  const hint = `To start it anyway: gh issue edit ${url} --remove-label blocked`;
  return { code: 'import/issue-blocked', message: `issue #${number} has the label blocked: ${url}`, hint };
}

function otherTask({ id, title }: KnownTask, { url }: Issue): ApiError {
  const message = `task ${id} exists already, but was not imported from ${url}: ${quote(title)}`;
  return { code: 'task-exists', message, hint: `If it is the same work: baton run issue --task ${id}` };
}

/** Shortens a very long text. The rest is at GitHub. */
function withinLimit(description: string, { url }: Issue): string {
  const mark = `\n\n[cut here; all of it: ${url}]`;
  const most = PROTOCOL_LIMITS.descriptionBytes - utf8Length(mark);
  if (utf8Length(description) <= PROTOCOL_LIMITS.descriptionBytes) return description;
  const bytes = new TextEncoder().encode(description).slice(0, most);
  return `${new TextDecoder().decode(bytes).replace(/\uFFFD+$/, '')}${mark}`;
}
