import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOwnSession, type OwnSession } from '../../api/client/own-session.ts';
import type { HookCall, HookOutput } from './hook-call.ts';

/**
 * Gemini CLI begins a turn: with what the person said, with the answer of a tool, or with our own block. Only the first is a reason to hold
 * the session once more; its own flag is gone after every tool call.
 */
export function clearBlockOnPrompt({ input, stateDir, env }: HookCall): HookOutput {
  const session = findOwnSession(stateDir, env, input.conversation || undefined);
  const block = session === undefined ? undefined : readLastBlock(session);
  if (session === undefined || block === undefined) return {};
  const isPerson = input.prompt.trim() !== '' && !input.prompt.includes(block) && !TOOL_ANSWER.test(input.prompt);
  if (isPerson) rmSync(fileOf(session), { force: true });
  return {};
}

const TOOL_ANSWER = /^\[Function (?:Response|Call)/;

/** What the session was last told, where it was held since the person spoke. */
export function readLastBlock(session: OwnSession): string | undefined {
  try {
    return readFileSync(fileOf(session), 'utf8');
  } catch {
    return undefined;
  }
}

export function writeLastBlock(session: OwnSession, block: string): void {
  writeFileSync(fileOf(session), block, { mode: 0o600 });
}

function fileOf({ folder }: OwnSession): string {
  return join(folder, 'block');
}
