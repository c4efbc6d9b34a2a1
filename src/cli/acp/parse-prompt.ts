import { type AvailableCommand, readText } from '../../acp/messages.ts';
import type { ApiError } from '../../api/answer.ts';
import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import { type Fields, fieldsOf, objectsOf, textOf } from '../../protocol/shape/read-unknown.ts';
import { showInvisible } from '../../protocol/text/show-invisible.ts';
import { utf8Length } from '../../protocol/text/text-format.ts';

export type EditorCommand =
  | { readonly kind: 'issue' | 'task'; readonly title: string; readonly description: string }
  | { readonly kind: 'run'; readonly name: string; readonly args: readonly string[] }
  | { readonly kind: 'status' }
  /** Without an id, follows the session's own run. */
  | { readonly kind: 'follow'; readonly id: string | undefined };

export type ParsedPrompt =
  | {
      readonly ok: true;
      readonly command: EditorCommand;
      /** The typed text, in case the prompt is used as a note. */
      readonly text: string;
      readonly isPlain: boolean;
    }
  | { readonly ok: false; readonly error: ApiError };

export const AVAILABLE_COMMANDS: readonly AvailableCommand[] = [
  {
    name: 'issue',
    description: 'Start the built-in workflow: from a request to a merge. A prompt without a command does the same',
    input: { hint: 'the title; further lines are the description' },
  },
  {
    name: 'task',
    description: 'Add a task, and start nothing',
    input: { hint: 'the title; further lines are the description' },
  },
  { name: 'run', description: 'Run a command or pipeline of the runbook', input: { hint: 'NAME [arguments]' } },
  { name: 'status', description: 'Show running work and what needs you' },
  { name: 'follow', description: 'Follow a task that is already running', input: { hint: 'the id of the task' } },
];

/** Parses a prompt as a command. Without one, the first line is the title of a workflow, the rest its description. */
export function parsePrompt(prompt: unknown): ParsedPrompt {
  const blocks = objectsOf(prompt);
  const typed = showInvisible(blocks.map(inlineText).join('')).trim();
  const bytes = utf8Length(typed);
  if (bytes > PROTOCOL_LIMITS.descriptionBytes) return tooLarge(bytes);
  const [, name, rest = ''] = /^\/([a-z]+)(?:\s+([\s\S]*))?$/i.exec(typed) ?? [];
  const command = name === undefined ? describeWork('issue', typed, blocks) : commandOf(name, rest.trim(), blocks);
  return 'code' in command
    ? { ok: false, error: command }
    : { ok: true, command, text: typed, isPlain: name === undefined };
}

function commandOf(name: string, rest: string, blocks: readonly Fields[]): EditorCommand | ApiError {
  const [first, ...args] = splitWords(rest);
  switch (name.toLowerCase()) {
    case 'issue':
      return describeWork('issue', rest, blocks);
    case 'task':
      return describeWork('task', rest, blocks);
    case 'run':
      return first === undefined
        ? usage('/run needs the name of a command or pipeline')
        : { kind: 'run', name: first, args };
    case 'status':
      return { kind: 'status' };
    case 'follow':
      return { kind: 'follow', id: first };
    default:
      return usage(`there is no command /${name}`);
  }
}

/** The title is the first line, shortened if it is a paragraph. The description then has the whole text. */
function describeWork(kind: 'issue' | 'task', text: string, blocks: readonly Fields[]): EditorCommand | ApiError {
  const [first = '', ...more] = text.split('\n');
  const line = first.trim();
  if (line === '') return usage('the prompt has no text');
  const isShort = line.length <= TITLE_CHARACTERS;
  const title = isShort ? line : `${line.slice(0, TITLE_CHARACTERS).replace(/\s+\S*$/, '')}…`;
  return { kind, title, description: addResources((isShort ? more.join('\n') : text).trim(), blocks) };
}

/** Appends embedded files as far as the limit allows. The agents can read the others in the repository. */
function addResources(text: string, blocks: readonly Fields[]): string {
  let description = text;
  for (const block of blocks) {
    if (block['type'] !== 'resource') continue;
    const whole = showInvisible(readText(block));
    const fits = utf8Length(`${description}\n\n${whole}`) <= PROTOCOL_LIMITS.descriptionBytes - NAMES_BYTES;
    description += `\n\n${fits ? whole : `${nameOf(block)} (too long to be included here)`}`;
  }
  return description.trim();
}

/** Editors put file mentions between pieces of text. */
function inlineText(block: Fields): string {
  if (block['type'] === 'text') return textOf(block['text']);
  return block['type'] === 'resource' || block['type'] === 'resource_link' ? nameOf(block) : '';
}

function nameOf(block: Fields): string {
  const uri = textOf(block['uri']) || textOf(fieldsOf(block['resource'])['uri']);
  return (uri || textOf(block['name'])).slice(0, URI_CHARACTERS);
}

/** Splits words like a shell, with quotes but without expansion. */
function splitWords(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, bare]) => double ?? single ?? bare ?? '',
  );
}

function usage(message: string): ApiError {
  const names = AVAILABLE_COMMANDS.map(({ name }) => `/${name}`).join(', ');
  return { code: 'acp/usage', message, hint: `Write what is to be done, or use ${names}.` };
}

function tooLarge(bytes: number): ParsedPrompt {
  const message = `the prompt has ${bytes} bytes, and a description at most ${PROTOCOL_LIMITS.descriptionBytes}`;
  return {
    ok: false,
    error: { code: 'too-large', message, hint: 'Put the rest into a file of the repository, and name that file.' },
  };
}

const TITLE_CHARACTERS = 120;
const URI_CHARACTERS = 500;
/** Reserved for the names of files that do not fit. */
const NAMES_BYTES = 2048;
