import { CLI_CALLS, type CliCall } from '../api/operations/cli-calls.ts';
import type { Backend } from './connection.ts';

/** A backend whose refusals name tools instead of commands of the CLI, which many MCP clients cannot run. */
export function withToolHints({ call }: Backend): Backend {
  return {
    call: async (...asked) => {
      const answer = await call(...asked);
      if (answer.ok) return answer;
      return { ok: false, error: { ...answer.error, hint: nameTools(answer.error.hint) } };
    },
  };
}

/**
 * Replaces each command line that has an equivalent tool by a call of the tool. Other command lines stay, such as those
 * for operators.
 */
export function nameTools(hint: string): string {
  const parts = hint.split(COMMAND);
  const rest = parts.slice(1).map((text) => {
    const found = findCall(text);
    return found === undefined ? `baton ${text}` : `${renderCall(found)}${found.rest}`;
  });
  return [parts[0], ...rest].join('');
}

const COMMAND = /\bbaton (?=[a-z])/;

interface ToolCall {
  readonly tool: string;
  readonly fields: Readonly<Record<string, string>>;
  /** The text after the command line. */
  readonly rest: string;
}

function findCall(text: string): ToolCall | undefined {
  const name = NAMES.find((each) => text.startsWith(each) && !/^[\w:-]/.test(text.slice(each.length)));
  const row = name === undefined ? undefined : CLI_CALLS[name];
  return name === undefined || row === undefined ? undefined : readArguments(row, text.slice(name.length));
}

/** Longest first: `task next` before `task`. */
const NAMES = Object.keys(CLI_CALLS).toSorted((one, other) => other.length - one.length);

function readArguments({ operation: tool, args = [], options = {}, fields: own = {} }: CliCall, text: string) {
  const fields: Record<string, string> = { ...own };
  const open = [...args];
  let rest = text;
  for (;;) {
    const option = OPTION.exec(rest);
    if (option !== null) {
      const [whole, name = '', value] = option;
      const field = options[name];
      if (field === undefined || value === undefined) return undefined;
      fields[field] = value;
      rest = rest.slice(whole.length);
      continue;
    }
    const field = open.shift();
    const word = field === undefined ? null : (field === null ? MESSAGE : WORD).exec(rest);
    if (word === null) return { tool, fields, rest };
    if (typeof field === 'string') fields[field] = word[1] ?? '';
    rest = rest.slice(word[0].length);
  }
}

const OPTION = /^ --([a-z-]+)(?: ("[^"]*"|[\w.…-]*[\w…]))?/;
/** A value, without the punctuation of the sentence around it. */
const WORD = /^ ([\w$][\w.:-]*\w|[\w$])/;
/** A file or a message, such as `-`, `FILE`, `record.json` or `'<json>'`. */
const MESSAGE = /^ ('[^']*'|[\w./-]+\.(?:json|yaml|xml)\b|[A-Z][A-Z|-]*(?![\w.])|-(?![\w-]))/;

function renderCall({ tool, fields }: ToolCall): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  return pairs.length === 0 ? tool : `${tool} {${pairs.join(', ')}}`;
}
