import { readFileSync } from 'node:fs';
import { renderScriptProblems } from './render-problems.ts';
import { ConversationFile } from './conversation.ts';
import { readMessages } from './ear.ts';
import { readHooks } from './hooks.ts';
import { jsonOutput, textOutput, terminalOutput } from './mouth.ts';
import { parseOptions, USAGE } from './options.ts';
import { parseScript } from './parse-script.ts';
import { ScriptPlayer } from './player.ts';

/** Plays a script from its command line to its exit code. */
export async function runScript(argv: readonly string[]): Promise<number> {
  const options = parseOptions(argv);
  if (typeof options === 'string') return fail(`Error: ${options}\n${USAGE}`, 2);
  const text = readScriptFile(options.script);
  if (typeof text !== 'string')
    return fail(`Error: ${text.problem}\n  hint: Name a script, as in: baton agent play script.yaml\n`, 2);
  const parsed = parseScript(text);
  if (!parsed.ok) return fail(renderScriptProblems(options.script, text, parsed.problems), 2);
  if (options.isCheck) return 0;
  const ear = readMessages(process.stdin);
  const conversation = new ConversationFile(options.keep, options.sessionId, options.isResume);
  const code = await new ScriptPlayer({
    script: parsed.value,
    agentId: process.env['BATON_AGENT_ID'] ?? options.sessionId,
    mouth: options.isTerminal
      ? terminalOutput(conversation.now.messages)
      : options.isJson
        ? jsonOutput(options.sessionId)
        : textOutput(),
    ear,
    fire: readHooks(options.settings, options.sessionId),
    conversation,
    blockCap: blockCap(process.env['CLAUDE_CODE_STOP_HOOK_BLOCK_CAP']),
    isPrompted: options.isPrompted,
  }).play();
  ear.close();
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

/** Claude Code overrides the ninth block in a row, unless it is told another number; 0 and less mean that it never does. */
function blockCap(given: string | undefined): number | null {
  const cap = Number(given || 8);
  return Number.isNaN(cap) ? 8 : cap <= 0 ? null : cap;
}

function fail(message: string, code: number): number {
  process.stderr.write(message);
  return code;
}
