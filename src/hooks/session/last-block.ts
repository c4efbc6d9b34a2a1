import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findOwnSession, type OwnSession } from '../../api/client/own-session.ts';
import { readFileIfPresent } from '../../api/files.ts';
import type { HookCall, HookOutput } from './hook-call.ts';

/**
 * Gemini CLI starts a turn for a user's message, for a tool result and for Baton's own block. Only a message allows the
 * next block; Gemini's own flag is lost after every tool call.
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

/** The reason of the last block since the user's last message. */
export function readLastBlock(session: OwnSession): string | undefined {
  return readFileIfPresent(fileOf(session)) || undefined;
}

export function writeLastBlock(session: OwnSession, block: string): void {
  writeFileSync(fileOf(session), block, { mode: 0o600 });
}

function fileOf({ folder }: OwnSession): string {
  return join(folder, 'block');
}
