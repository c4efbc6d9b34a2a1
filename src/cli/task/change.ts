import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { CONSTRAINTS } from '../../protocol/agent-session-completed.ts';
import { PHASES } from '../../protocol/phase.ts';
import { TASK_STATUSES } from '../../protocol/shape/shared-fields.ts';
import { decodeUtf8 } from '../../protocol/text/text-format.ts';
import type { Io, ParsedArguments, UsageError } from '../command.ts';
import {
  type CommandInput,
  numberOption,
  operationCommand,
  pickOptions,
  SELF_APPROVE_OPTION,
  selfApprovalCall,
} from '../operation-command.ts';
import { readArgument, readDocumentArgument, readTextArgument } from '../operation-input.ts';
import { printable, shortId } from '../text.ts';
import { noteUnknownRole } from './note-role.ts';

export const taskAddCommand = operationCommand({
  examples: ['baton task add P0.1.2 --title "Set the linter up" --after P0.1.1'],
  args: [{ name: 'ID', about: 'The id of the task, such as P0.1.2, T042 or 123' }],
  options: [
    { name: 'title', value: 'TEXT', needed: true, about: 'What is to be done' },
    { name: 'after', value: 'A,B', about: 'Tasks that must be done first' },
    { name: 'priority', value: 'N', about: 'Higher numbers come first (default: 0)' },
    {
      name: 'phase',
      value: 'PHASE',
      choices: PHASES,
      about: `The first phase (default: IMPLEMENTATION): ${PHASES.join(', ')}`,
    },
    { name: 'role', value: 'ROLE', about: 'The role that works on the task first' },
    { name: 'prompt', value: 'FILE', about: 'A file in the repository with the description' },
    { name: 'description', value: 'TEXT', about: 'The description, which is recorded with the task' },
    { name: 'description-file', value: 'FILE|-', about: 'The description from a file, or from standard input' },
    { name: 'epic', value: 'ID', about: 'The epic of the task' },
    { name: 'prd', value: 'ID', about: 'The PRD of the task' },
  ],
  operation: 'task_create',
  input: async (given, io) => {
    const priority = numberOption(given, 'priority');
    if ('usage' in priority) return priority;
    const prompt = findPromptPath(given, io);
    if ('usage' in prompt) return prompt;
    const described = await readDescription(given, io);
    if ('usage' in described) return described;
    if (!given.options.has('title')) return { usage: '--title TEXT is missing' };
    await noteUnknownRole(given, io);
    const after = given.options
      .get('after')
      ?.split(',')
      .map((id) => id.trim())
      .filter((id) => id !== '');
    const names = { title: 'title', phase: 'phase', role: 'role', epic: 'epic_id', prd: 'prd_id' };
    const fields = { ...pickOptions(given, names), after, priority: priority.value };
    return { value: { task_id: given.args[0], ...fields, ...prompt, ...described } };
  },
  show: ({ task_id, n }) =>
    n === null
      ? `Proposed ${printable(task_id)}: a person decides whether it becomes a task.\n`
      : `Added ${printable(task_id)} (number ${n}).\n`,
});

export const taskUpdateCommand = operationCommand({
  examples: ['baton task update P0.1.1 --status in_progress --progress 40', 'baton task update P0.1.1 --status done'],
  args: [{ name: 'ID', about: 'The task' }],
  options: [
    {
      name: 'status',
      value: 'STATUS',
      choices: TASK_STATUSES,
      needed: true,
      about: 'todo, in_progress, blocked (with notes) or done (after a thought record)',
    },
    { name: 'progress', value: 'N', about: '0 to 100' },
    { name: 'notes', value: 'TEXT', about: 'One or two sentences' },
    SELF_APPROVE_OPTION,
  ],
  before: (given) => selfApprovalCall(given.args[0], given),
  operation: 'task_update',
  input: (given) => {
    const progress = numberOption(given, 'progress');
    if ('usage' in progress) return progress;
    if (!given.options.has('status')) return { usage: '--status STATUS is missing' };
    const fields = pickOptions(given, { status: 'status', notes: 'notes' });
    return { value: { task_id: given.args[0], ...fields, progress: progress.value } };
  },
  show: ({ task_id, status }) => `${printable(task_id)} is ${status}.\n`,
});

export const taskCompleteCommand = operationCommand({
  examples: [
    'baton task complete P0.1.1 record.json',
    'baton task complete P0.1.1 --waive "done by hand, nothing to record"',
  ],
  args: [
    { name: 'ID', about: 'The task' },
    { name: 'FILE|-', about: 'The thought record', optional: true },
  ],
  options: [
    { name: 'waive', value: 'REASON', about: 'Operators only: complete without a record; the waiver is recorded' },
    SELF_APPROVE_OPTION,
  ],
  before: (given) => selfApprovalCall(given.args[0], given),
  sendsMessage: true,
  operation: ({ options }) => (options.has('waive') ? 'task_waive' : 'task_complete'),
  json: [{ result: 'task_complete' }, { when: '--waive', result: 'task_waive' }],
  input: async (given, io) => {
    const [task_id, file] = given.args;
    const reason = given.options.get('waive');
    if (reason !== undefined) return { value: { task_id, reason } };
    if (file === undefined) return { usage: 'name the thought record: FILE, or - for standard input' };
    const record = await readDocumentArgument(file, 'thought', io);
    if (!('value' in record)) return record;
    const about = 'task_id' in record.value ? record.value.task_id : undefined;
    if (about !== task_id) return { usage: `the record is about ${String(about)}, not ${task_id}` };
    return { value: record.value };
  },
  show: ({ task_id }) => `${printable(task_id)} is done.\n`,
});

export const taskNoteCommand = operationCommand({
  examples: [
    'baton task note P0.1.1 "Use the parser that we have"',
    'baton task note P0.1.1 "Too long" --at src/a.ts:12',
  ],
  args: [
    { name: 'ID', about: 'The task' },
    { name: 'TEXT|-', about: 'The note; - is standard input' },
  ],
  options: [{ name: 'at', value: 'PATH[:LINE]', about: 'The file and line that the note is about' }],
  operation: 'task_note',
  input: async ({ args: [task_id, typed = ''], options }, io) => {
    const { value: text } = await readTextArgument(typed, io);
    return { value: { task_id, text, ...parsePlace(options.get('at')) } };
  },
  show: ({ task_id, agent_id }) =>
    agent_id === null
      ? `Noted: the next session on ${printable(task_id)} reads it.\n`
      : `Noted, and sent to agent ${shortId(agent_id)} on ${printable(task_id)}.\n`,
});

/** A file name may contain colons, so only a number at the end is a line. */
function parsePlace(at: string | undefined): { readonly path?: string; readonly line?: number } {
  if (at === undefined) return {};
  const [, path = at, line] = /^(.+):([1-9]\d{0,8})$/.exec(at) ?? [];
  return line === undefined ? { path } : { path, line: Number(line) };
}

/** For operators only. */
const withReason = {
  args: [{ name: 'ID', about: 'The task' }],
  options: [{ name: 'reason', value: 'TEXT', needed: true, about: 'The reason, which is recorded' }],
  input: (given: ParsedArguments): CommandInput => {
    const reason = given.options.get('reason');
    return reason === undefined ? { usage: '--reason TEXT is missing' } : { value: { task_id: given.args[0], reason } };
  },
};

export const taskUnblockCommand = operationCommand({
  ...withReason,
  examples: ['baton task unblock P0.1.1 --reason "the credentials are there"'],
  operation: 'task_unblock',
  show: ({ task_id }) => `Unblocked ${printable(task_id)}.\n`,
});

export const taskWaiveCommand = operationCommand({
  ...withReason,
  args: [...withReason.args, { name: 'CONSTRAINT', about: CONSTRAINTS.join(', ') }],
  examples: ['baton task waive P0.1.1 max_files --reason "the rename touches every file"'],
  operation: 'task_waive_constraint',
  input: (given: ParsedArguments): CommandInput => {
    const [task_id, constraint] = given.args;
    const reason = given.options.get('reason');
    return reason === undefined ? { usage: '--reason TEXT is missing' } : { value: { task_id, constraint, reason } };
  },
  show: ({ task_id }) =>
    `Waived for ${printable(task_id)}. If it is blocked: baton task unblock ${printable(task_id)}\n`,
});

export const taskRulesCommand = operationCommand({
  examples: ['baton task rules W-00001,W-00002 --current'],
  args: [{ name: 'ID,…', about: 'The tasks' }],
  options: [{ name: 'current', needed: true, about: 'Follow the rules in force from now on' }],
  operation: 'task_rules',
  input: ({ args, options }) =>
    options.has('current') ? { value: { task_ids: args[0]?.split(',') } } : { usage: '--current is missing' },
  show: ({ moved, released }) => {
    if (moved.length === 0) return 'The rules in force apply already.\n';
    const blocked = released.length === 0 ? '' : `Continued: ${printable(released.join(', '))}.\n`;
    return `The rules in force apply to ${printable(moved.join(', '))} from now on.\n${blocked}`;
  },
});

export const taskCancelCommand = operationCommand({
  ...withReason,
  examples: ['baton task cancel P0.1.1 --reason "no longer wanted"'],
  operation: 'task_cancel',
  show: ({ task_id }) => `Cancelled ${printable(task_id)}.\n`,
});

export const taskReinstateCommand = operationCommand({
  ...withReason,
  examples: ['baton task reinstate P0.1.1 --reason "it is wanted after all"'],
  operation: 'task_reinstate',
  show: ({ task_id }) => `Reinstated ${printable(task_id)}.\n`,
});

/** Resolves `--prompt FILE` to a path from the root of the repository, where agents look for it. */
export function findPromptPath(
  { options }: ParsedArguments,
  { cwd }: Io,
): { readonly prompt_file?: string } | UsageError {
  const file = options.get('prompt');
  if (file === undefined) return {};
  const folder = resolve(cwd, options.get('project') ?? '.');
  const path = resolve(folder, file);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return { usage: `--prompt ${file}: there is no such file` };
  const top = findTop(folder);
  const inside = top === undefined ? file : relative(top, path);
  return inside.startsWith('..')
    ? { usage: `--prompt ${file}: it is not in this repository` }
    : { prompt_file: inside };
}

async function readDescription(
  { options }: ParsedArguments,
  io: Io,
): Promise<{ readonly description?: string } | UsageError> {
  const [text, file] = [options.get('description'), options.get('description-file')];
  if (file === undefined) return text === undefined ? {} : { description: text };
  if (text !== undefined) return { usage: '--description and --description-file exclude each other' };
  const read = await readArgument(file === '-' ? file : resolve(io.cwd, file), io);
  if ('usage' in read) return read;
  const description = decodeUtf8(read.bytes);
  return description === undefined ? { usage: `${file} is not valid UTF-8` } : { description };
}

function findTop(folder: string): string | undefined {
  if (existsSync(join(folder, '.git'))) return folder;
  return dirname(folder) === folder ? undefined : findTop(dirname(folder));
}
