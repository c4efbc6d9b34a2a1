import type { Task } from '../../state/tasks/task.ts';
import type { Form } from './forms.ts';

export interface TaskFacts {
  readonly task: Task;
  readonly role: string | null;
  readonly branch: string;
  readonly base: string;
  readonly port: number | null;
  readonly owes: readonly string[];
  readonly constraints: readonly string[];
  readonly prompt: { readonly path: string; readonly text: string } | null;
  readonly leftovers: readonly string[];
  /** For the judging roles. */
  readonly protectedPaths: readonly string[];
  /** For the judging roles. */
  readonly change: BranchChange | null;
  readonly forms: readonly Form[];
}

export interface BranchChange {
  readonly from: string;
  readonly to: string;
  readonly stat: string;
  readonly diff: string | null;
}

/** task.md. Text of others is put into fences that it cannot close, so that it is read as data. */
export function renderTaskFile(facts: TaskFacts): string {
  const { task } = facts;
  const sections = [
    `# ${task.id}: ${toLine(task.title)}\n\n${describePlace(facts)}`,
    section('What you must not do', list(facts.constraints) || 'Nothing is forbidden beyond what your prompt says.'),
    facts.prompt === null
      ? ''
      : section(`The task, as ${facts.prompt.path} has it`, fenced(facts.prompt.text, 'markdown')),
    task.description === null
      ? ''
      : section('What is to be done, as its author wrote it', fenced(task.description, 'markdown')),
    describeIssue(task),
    task.flow.handoff === null
      ? ''
      : section(`The handoff to you, from ${task.flow.handoff.from}`, fenced(task.flow.handoff.xml, 'xml')),
    section('The latest thought record', describeRecord(task)),
    describeFindings(task),
    describeChecks(task),
    task.endings.length === 0 ? '' : section('How earlier sessions ended', task.endings.map(describeEnding).join('\n')),
    facts.leftovers.length === 0
      ? ''
      : section('Not committed by earlier sessions', describeLeftovers(facts.leftovers)),
    facts.protectedPaths.length === 0 ? '' : section('Protected paths', describeProtected(facts.protectedPaths)),
    facts.change === null ? '' : section('The change so far', describeChange(facts.change)),
    section('Forms', describeForms(facts)),
  ];
  return `${sections.filter((each) => each !== '').join('\n\n')}\n`;
}

function describePlace({ task, role, branch, base, port, owes }: TaskFacts): string {
  const lines = [
    `Phase: ${task.phase}`,
    `Your role: ${role ?? 'none in particular'}`,
    `Branch: ${branch}`,
    `You began at: ${base}`,
    ...(port === null ? [] : [`Your port: ${port}`]),
    `You owe: ${owes.join(', ') || 'nothing'}`,
  ];
  return list(lines);
}

/** Left out if the session's handoff contains it. */
function describeIssue({ flow: { issue, handoff } }: Task): string {
  if (issue === null || issue.handoff_id === handoff?.handoff_id) return '';
  return section(`The issue, as ${issue.from} wrote it`, fenced(issue.xml, 'xml'));
}

function describeRecord({ latestRecord: record }: Task): string {
  if (record === null) return 'There is none yet.';
  const blockers = record.blockers.map((each) => `Blocker: ${JSON.stringify(each)}`);
  const facts = [
    `Commit ${record.commit_sha} on ${record.branch}`,
    `Tests run: ${record.tests_run.join(', ') || 'none'}`,
    `Files changed: ${record.files_changed.join(', ') || 'none'}`,
    ...blockers,
  ];
  return fenced(truncate(`${facts.join('\n')}\n\n${record.summary}`, MOST_OF_A_SECTION));
}

function describeFindings({ flow }: Task): string {
  const found = Object.entries(flow.findings).map(([text, rounds]) => `(round ${rounds}) ${toLine(text)}`);
  if (found.length === 0) return '';
  return section(
    `What was found against it, after ${flow.rounds} rounds`,
    fenced(truncate(found.join('\n'), MOST_OF_A_SECTION)),
  );
}

function describeChecks({ flow: { checks } }: Task): string {
  if (checks === null) return '';
  const lines = checks.plans.map(({ name }) => `${toLine(name)}: ${checks.outcomes[name] ?? 'not run'}`);
  return section(`The required checks of ${checks.head}`, list(lines));
}

function describeEnding({ epoch, how, holder, reason, at }: Task['endings'][number]): string {
  return `- ${at} claim ${epoch} of ${toLine(holder)}: ${how}${reason === null ? '' : ` (${toLine(truncate(reason, 300))})`}`;
}

function describeLeftovers(paths: readonly string[]): string {
  const words = 'Look at each: go on with it, or restore it (git restore, git clean). What you leave counts as yours.';
  return `${words}\n\n${fenced(truncate(paths.join('\n'), MOST_OF_A_SECTION))}`;
}

function describeProtected(paths: readonly string[]): string {
  const words =
    'The change touches files that decide how work is checked. Judge each of them: may a check have become weaker? A person is asked before the merge.';
  return `${words}\n\n${fenced(truncate(paths.join('\n'), MOST_OF_A_SECTION))}`;
}

function describeChange({ from, to, stat, diff }: BranchChange): string {
  const all = `From ${from} to ${to}. All of it: \`git diff ${from} ${to}\``;
  const parts = [
    all,
    fenced(truncate(stat, MOST_OF_A_SECTION)),
    diff === null ? '' : fenced(truncate(diff, MOST_OF_DIFF), 'diff'),
  ];
  return parts.filter((each) => each !== '').join('\n\n');
}

function describeForms({ forms, task }: TaskFacts): string {
  const exit = JSON.stringify({
    protocol: 'apm2_agent_exit',
    version: '1.0.0',
    phase_completed: task.phase,
    exit_reason: 'completed',
  });
  const words = [
    'Each lies ready in `.baton/session/`, where git does not look: fill it in there, and send it. Then, last of all:',
    fenced(`baton emit exit '${exit}'`, 'sh'),
  ];
  const each = forms.map(
    ({ file, when, send, text }) =>
      `### ${file}\n\nWhen: ${when}. Send it: \`${send}\`\n\n${fenced(text.trimEnd(), file.endsWith('.xml') ? 'xml' : 'yaml')}`,
  );
  return [...words, ...each].join('\n\n');
}

const MOST_OF_A_SECTION = 8_000;

function section(title: string, body: string): string {
  return `## ${title}\n\n${body}`;
}

function list(lines: readonly string[]): string {
  return lines.map((each) => `- ${each}`).join('\n');
}

function fenced(text: string, language = 'text'): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function truncate(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text.slice(0, most).trimEnd()}\n[cut here: ${text.length - most} characters more]`;
}

export function toLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

const MOST_OF_DIFF = 60_000;
