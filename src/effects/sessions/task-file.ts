import { CHECK_TOOL } from '../../protocol/handoff/judge.ts';
import type { FormKind } from '../../protocol/placeholder.ts';
import { showInvisible } from '../../protocol/text/show-invisible.ts';
import type { Packet } from '../../state/packet/packet.ts';
import { renderFence, renderPacket, renderPath } from '../../state/packet/render-packet.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { Form } from './forms.ts';
import type { ReadingList } from './reading-list.ts';

export interface TaskFacts {
  readonly packet: Packet;
  readonly role: string | null;
  readonly branch: string;
  readonly base: string;
  readonly port: number | null;
  readonly owes: readonly string[];
  readonly constraints: readonly string[];
  readonly prompt: ReadingList['prompt'];
  readonly references: ReadingList['references'];
  readonly leftovers: readonly string[];
  /** For the judging roles. */
  readonly protectedPaths: readonly string[];
  readonly instructionFiles: readonly string[];
  readonly versionFiles: readonly string[];
  /** For the judging roles. */
  readonly change: BranchChange | null;
  readonly forms: readonly Form[];
  /** Whether the session judges, and its messages count only as tool calls of its own client. */
  readonly usesTools: boolean;
}

export interface BranchChange {
  readonly from: string;
  readonly to: string;
  readonly stat: string;
  readonly diff: string | null;
}

/**
 * Renders task.md: the context packet, surrounded by what only this session needs. Texts of others are in fences that
 * the texts cannot close.
 */
export function renderTaskFile(facts: TaskFacts): string {
  const { packet, prompt, references, leftovers, protectedPaths, instructionFiles, versionFiles, change } = facts;
  const { task } = packet;
  const { handoff } = task.flow;
  // The handoff to this role is its input, so it appears in full.
  const without = new Set(handoff === null ? [] : [handoff.handoff_id]);
  const sections = [
    renderPacket(packet, { heading: describePlace(facts), references, without }).text,
    section('What you must not do', list(facts.constraints) || 'There are no limits besides those in your prompt.'),
    prompt === null ? '' : section(`The task, from ${renderPath(prompt.path)}`, renderFence(prompt.text, 'markdown')),
    task.description === null
      ? ''
      : section(`What is to be done, as ${packet.author} wrote it`, renderFence(task.description, 'markdown')),
    describeIssue(task),
    handoff === null ? '' : section(`The handoff to you, from ${handoff.from}`, renderFence(handoff.xml, 'xml')),
    describeChecks(facts),
    leftovers.length === 0 ? '' : section('Not committed by earlier sessions', describeLeftovers(leftovers)),
    protectedPaths.length === 0 ? '' : section('Protected paths', describeProtected(protectedPaths)),
    instructionFiles.length === 0 ? '' : section('Instructions of agents', describeInstructions(instructionFiles)),
    versionFiles.length === 0 ? '' : section('CI configuration with the same commands', describeVersions(versionFiles)),
    change === null ? '' : section('The change so far', describeChange(change)),
    section('Forms', describeForms(facts)),
  ];
  return `${sections.filter((each) => each !== '').join('\n\n')}\n`;
}

function describePlace({ packet: { task }, role, branch, base, port, owes }: TaskFacts): string {
  const lines = [
    `Phase: ${task.phase}`,
    `Your role: ${role ?? 'no particular role'}`,
    `Branch: ${branch}`,
    `You began at: ${base}`,
    ...(port === null ? [] : [`Your port: ${port}`]),
    `You owe: ${owes.join(', ') || 'nothing'}`,
  ];
  return `# Task ${task.id}\n\n${list(lines)}`;
}

/** Empty if the session's handoff already contains the issue. */
function describeIssue({ flow: { issue, handoff } }: Task): string {
  if (issue === null || issue.handoff_id === handoff?.handoff_id) return '';
  return section(`The issue, as ${issue.from} wrote it`, renderFence(issue.xml, 'xml'));
}

function describeChecks({ packet: { task }, usesTools }: TaskFacts): string {
  const { checks } = task.flow;
  if (checks === null) return '';
  const lines = checks.plans.map(({ name }) => `${toLine(name)}: ${checks.outcomes[name] ?? 'not run'}`);
  const again = usesTools
    ? `\n\nTo run them again on this commit, as Baton runs them: the tool \`${CHECK_TOOL}\`.`
    : '';
  return section(`The required checks of ${checks.head}`, `${list(lines)}${again}`);
}

function describeLeftovers(paths: readonly string[]): string {
  const words =
    'Look at each file: continue the work on it, or restore it (git restore, git clean). What you leave there counts as your change.';
  return `${words}\n\n${renderFence(truncate(paths.join('\n'), MOST_OF_A_SECTION))}`;
}

function describeProtected(paths: readonly string[]): string {
  const words =
    'The change touches files that run code on other machines or decide how work is checked. Judge each of them: what does it run now, and is a check weaker than before? Baton asks a person before the merge.';
  return listPaths(words, paths);
}

function describeInstructions(paths: readonly string[]): string {
  const words =
    'The change touches files that agents read as instructions in every later session. Judge each of them: does the task need it, and what would an agent do differently?';
  return listPaths(words, paths);
}

function describeVersions(paths: readonly string[]): string {
  const words =
    'In these files the change keeps the commands, and names other versions or changes limits and comments. CI will run the code of each version: check that it is a release of the named project, and the commit of a hash as well.';
  return listPaths(words, paths);
}

function listPaths(words: string, paths: readonly string[]): string {
  return `${words}\n\n${renderFence(truncate(paths.join('\n'), MOST_OF_A_SECTION))}`;
}

function describeChange({ from, to, stat, diff }: BranchChange): string {
  const all = `From ${from} to ${to}. To see the whole change: \`git diff ${from} ${to}\``;
  const parts = [
    all,
    renderFence(truncate(stat, MOST_OF_A_SECTION)),
    diff === null ? '' : renderFence(truncate(diff, MOST_OF_DIFF), 'diff'),
  ];
  return parts.filter((each) => each !== '').join('\n\n');
}

function describeForms({ forms, usesTools, packet: { task } }: TaskFacts): string {
  const exit = JSON.stringify({
    protocol: 'apm2_agent_exit',
    version: '1.0.0',
    phase_completed: task.phase,
    exit_reason: 'completed',
  });
  const words = [
    ...(usesTools
      ? [BY_TOOLS, renderFence(exit, 'json')]
      : [BY_COMMANDS, renderFence(`baton emit exit '${exit}'`, 'sh')]),
    ...(forms.some(({ file }) => file === ERROR_FORM) ? [FAILED] : []),
  ];
  const each = forms.map(
    ({ kind, file, when, send, text }) =>
      `### ${file}\n\nWhen: ${when}. Send it: ${usesTools ? SEND_BY_TOOL[kind] : `\`${send}\``}\n\n${renderFence(text.trimEnd(), file.endsWith('.xml') ? 'xml' : 'yaml')}`,
  );
  return [...words, ...each].join('\n\n');
}

const BY_COMMANDS =
  'A blank form of each is in `.baton/session/`, which git ignores: fill it in there, and send it. Last of all:';
const BY_TOOLS =
  "Send them with the tools of Baton's MCP server, with the whole content as arguments. What a command in your shell sends does not count as your verdict. Last of all, the tool `exit_signal` with these arguments:";
const SEND_BY_TOOL: Readonly<Record<FormKind, string>> = {
  handoff: 'the tool `handoff_send`, with the text as `handoff`',
  result: 'the tool `result_submit`, with the fields as arguments',
  record: 'the tool `thought_record`, with the fields as arguments',
};

const ERROR_FORM = 'handoff-to-orchestrator.xml';
const FAILED = `If you cannot do the work, send \`${ERROR_FORM}\` with the error, and exit with the \`exit_reason\` "error".`;

const MOST_OF_A_SECTION = 8_000;

function section(title: string, body: string): string {
  return `## ${title}\n\n${body}`;
}

function list(lines: readonly string[]): string {
  return lines.map((each) => `- ${each}`).join('\n');
}

function truncate(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text.slice(0, most).trimEnd()}\n[cut here: ${text.length - most} characters more]`;
}

export function toLine(text: string): string {
  return showInvisible(text.replaceAll(/\s+/g, ' ').trim());
}

const MOST_OF_DIFF = 60_000;
