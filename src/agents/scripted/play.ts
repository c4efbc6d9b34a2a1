import { readFileSync } from 'node:fs';
import type { Problem } from '../../protocol/shape/problem.ts';
import { playForAcp } from './acp/agent.ts';
import { claudeFace } from './claude/face.ts';
import { readHooks } from './claude/hooks.ts';
import { readMessages } from './claude/input.ts';
import { jsonOutput, terminalOutput, textOutput } from './claude/output.ts';
import { ConversationFile } from './conversation.ts';
import { ScriptPlayer } from './player.ts';
import { parsePlayOptions, type PlayOptions, USAGE } from './options.ts';
import { parseScript, type Script } from './script.ts';

export async function runScript(argv: readonly string[]): Promise<number> {
  const options = parsePlayOptions(argv);
  if (typeof options === 'string') return fail(`Error: ${options} [usage]\n${USAGE}`, 2);
  const text = readScriptFile(options.script);
  if (typeof text !== 'string')
    return fail(
      `Error: ${text.problem} [unreadable-file]\n  hint: Name a script, as in: baton agent play script.yaml\n`,
      2,
    );
  const parsed = parseScript(text, options);
  if (!parsed.ok) return fail(renderScriptProblems(options.script, text, parsed.problems), 2);
  if (options.isCheck) return 0;
  if (options.isAcp) return playForAcp(parsed.value, options.keep ?? process.env['BATON_AGENT_DIR']);
  return playForClaude(parsed.value, options);
}

async function playForClaude(script: Script, options: PlayOptions): Promise<number> {
  const { sessionId } = options;
  const input = readMessages(process.stdin);
  const conversation = new ConversationFile(options.keep, sessionId, options.isResume);
  const face = claudeFace({
    sessionId,
    output: options.isTerminal
      ? terminalOutput(conversation.now.messages)
      : options.isJson
        ? jsonOutput(sessionId)
        : textOutput(),
    input,
    fire: readHooks(options.settings, sessionId),
    blockCap: blockCap(process.env['CLAUDE_CODE_STOP_HOOK_BLOCK_CAP']),
  });
  const agentId = process.env['BATON_AGENT_ID'] ?? sessionId;
  const code = await new ScriptPlayer({ script, agentId, face, conversation, isPrompted: options.isPrompted }).play();
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

/** Claude Code overrides the ninth block in a row, unless the variable sets another limit. 0 or less means no limit. */
function blockCap(given: string | undefined): number | null {
  const cap = Number(given || 8);
  return Number.isNaN(cap) ? 8 : cap <= 0 ? null : cap;
}

function fail(message: string, code: number): number {
  process.stderr.write(message);
  return code;
}

function renderScriptProblems(file: string, text: string, problems: readonly Problem[]): string {
  const lines = text.split('\n');
  return problems
    .map(({ code, message, line, column, hint }) => {
      const source = lines[(line ?? 1) - 1]?.trimEnd() ?? '';
      const number = String(line ?? 1);
      const caret = `${' '.repeat(number.length + 2 + (column ?? 1))}^`;
      return `Error: ${message} [${code}]\n  at ${file}:${line}:${column}\n${number} | ${source}\n${caret}\n  hint: ${hint}\n`;
    })
    .join('');
}
