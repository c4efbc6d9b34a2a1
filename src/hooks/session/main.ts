import { readSync, writeSync } from 'node:fs';
import { CLIENTS } from '../client.ts';
import { hookCall, type HookCall, type HookOutput, readHookInput, renderHookOutput } from './hook-call.ts';

/**
 * `baton hooks run CLIENT MOMENT`: runs at the hooks of people's sessions. Whatever fails, the session continues: the
 * exit code is always 0, and timeouts are short.
 */
export async function runSessionHook(args: readonly string[], env: HookCall['env'], cwd: string): Promise<never> {
  const [name, moment = '', ...options] = args;
  const client = CLIENTS.find((each) => each === name);
  // Agents started by Baton have hooks of their own.
  if (client === undefined || env['BATON_AGENT_ID']) return leave('');
  setTimeout(() => leave(renderHookOutput(TOO_SLOW)), moment === 'end' ? 1400 : 12_000).unref();
  const input = readHookInput(readInput(), cwd);
  const at = options.indexOf('--principal') + 1;
  const principal = at === 0 ? undefined : options[at];
  const who = principal === undefined ? {} : { principal };
  const call = hookCall({ client, input, claims: options.includes('--claim'), env, ...who });
  try {
    return leave(renderHookOutput(await answer(moment, call)));
  } catch (error) {
    const note = `the hook failed (${error instanceof Error ? error.message : String(error)}); the session continues`;
    return leave(renderHookOutput({ note }));
  }
}

const TOO_SLOW: HookOutput = { note: 'the daemon does not answer in time; the session continues' };

/** Loads only the module of this event, since a person waits. */
async function answer(moment: string, call: HookCall): Promise<HookOutput> {
  if (moment === 'start') return (await import('./start.ts')).startSession(call);
  if (moment === 'stop') return (await import('./stop.ts')).stopTurn(call);
  if (moment === 'prompt') return (await import('./last-block.ts')).clearBlockOnPrompt(call);
  return moment === 'end' ? (await import('./end.ts')).endSession(call) : {};
}

function leave(text: string): never {
  try {
    if (text !== '') writeSync(1, text);
  } catch {
    // The client has closed the pipe.
  }
  process.exit(0);
}

const MOST_BYTES = 8 * 1024 * 1024;

function readInput(): Buffer {
  const pieces: Buffer[] = [];
  for (let bytes = 0; bytes <= MOST_BYTES;) {
    const piece = Buffer.allocUnsafe(65_536);
    let read = 0;
    try {
      read = readSync(0, piece);
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) break;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
      continue;
    }
    if (read === 0) break;
    pieces.push(piece.subarray(0, read));
    bytes += read;
  }
  return Buffer.concat(pieces);
}
