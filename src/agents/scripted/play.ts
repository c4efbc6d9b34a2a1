import { readFileSync } from 'node:fs';
import type { Problem } from '../../protocol/shape/problem.ts';
import { ConversationFile, jsonOutput, readMessages, terminalOutput, textOutput } from './conversation.ts';
import { readHooks } from './hooks.ts';
import { ScriptPlayer } from './player.ts';
import { parseScript } from './script.ts';

export async function runScript(argv: readonly string[]): Promise<number> {
  const options = parseOptions(argv);
  if (typeof options === 'string') return fail(`Error: ${options}\n${USAGE}`, 2);
  const text = readScriptFile(options.script);
  if (typeof text !== 'string')
    return fail(`Error: ${text.problem}\n  hint: Name a script, as in: baton agent play script.yaml\n`, 2);
  const parsed = parseScript(text);
  if (!parsed.ok) return fail(renderScriptProblems(options.script, text, parsed.problems), 2);
  if (options.isCheck) return 0;
  const input = readMessages(process.stdin);
  const conversation = new ConversationFile(options.keep, options.sessionId, options.isResume);
  const code = await new ScriptPlayer({
    script: parsed.value,
    agentId: process.env['BATON_AGENT_ID'] ?? options.sessionId,
    output: options.isTerminal
      ? terminalOutput(conversation.now.messages)
      : options.isJson
        ? jsonOutput(options.sessionId)
        : textOutput(),
    input,
    fire: readHooks(options.settings, options.sessionId),
    conversation,
    blockCap: blockCap(process.env['CLAUDE_CODE_STOP_HOOK_BLOCK_CAP']),
    isPrompted: options.isPrompted,
  }).play();
  input.close();
  return code;
}

function readScriptFile(path: string): string | { readonly problem: string } {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return {
      problem: `cannot read ${path}: ${error instanceof Error && 'code' in error ? String(error.code) : String(error)}`,
    };
  }
}

/** Claude Code overrides the ninth block in a row, unless the variable sets another number; 0 or less means never. */
function blockCap(given: string | undefined): number | null {
  const cap = Number(given || 8);
  return Number.isNaN(cap) ? 8 : cap <= 0 ? null : cap;
}

function fail(message: string, code: number): number {
  process.stderr.write(message);
  return code;
}

const USAGE = `Usage: baton agent play [options] SCRIPT
  --check          only check the script
  --stream-json    print events as Claude Code does with --output-format stream-json
  --settings FILE  hooks, in the format of Claude Code
  --keep DIR       keep the conversation there
  --session-id ID  the name of the conversation
  --resume ID      resume the conversation
  --prompted       begin with the first message
  --terminal       for a person: show the earlier messages, and ask for the next one
`;

function parseOptions(argv: readonly string[]) {
  const values = new Map<string, string>();
  const switches = new Set<string>();
  const scripts: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const word = argv[i] ?? '';
    if (SWITCHES.has(word)) switches.add(word);
    else if (!VALUES.has(word) && word.startsWith('--')) return `unknown option: ${word}`;
    else if (!VALUES.has(word)) scripts.push(word);
    else {
      const value = argv[(i += 1)];
      if (value === undefined) return `${word} needs a value`;
      values.set(word, value);
    }
  }
  const [script, ...more] = scripts;
  if (script === undefined || more.length > 0) return 'one script is needed';
  return {
    script,
    settings: values.get('--settings'),
    keep: values.get('--keep'),
    sessionId: values.get('--resume') ?? values.get('--session-id') ?? 'scripted',
    isResume: values.has('--resume'),
    isJson: switches.has('--stream-json'),
    isPrompted: switches.has('--prompted'),
    isTerminal: switches.has('--terminal'),
    isCheck: switches.has('--check'),
  };
}

const SWITCHES = new Set(['--check', '--stream-json', '--prompted', '--terminal']);
const VALUES = new Set(['--settings', '--keep', '--session-id', '--resume']);

function renderScriptProblems(file: string, text: string, problems: readonly Problem[]): string {
  const lines = text.split('\n');
  return problems
    .map(({ message, line, column, hint }) => {
      const source = lines[(line ?? 1) - 1]?.trimEnd() ?? '';
      const number = String(line ?? 1);
      const caret = `${' '.repeat(number.length + 2 + (column ?? 1))}^`;
      return `Error: ${message}\n  at ${file}:${line}:${column}\n${number} | ${source}\n${caret}\n  hint: ${hint}\n`;
    })
    .join('');
}
