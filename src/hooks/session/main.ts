import { readStdin, writeStdout } from '../../api/stdio.ts';
import { findStateDir } from '../../api/state-folder.ts';
import { CLIENTS } from '../client.ts';
import { type HookCall, type HookOutput, readHookInput, renderHookOutput } from './hook-call.ts';

/**
 * Runs `baton hooks run CLIENT MOMENT`. The exit code is always 0 and timeouts are short, so that the session continues
 * whatever fails.
 */
export async function runSessionHook(args: readonly string[], env: HookCall['env'], cwd: string): Promise<never> {
  const [name, moment = '', ...options] = args;
  const client = CLIENTS.find((each) => each === name);
  // Agents that Baton starts have separate hooks.
  if (client === undefined || env['BATON_AGENT_ID']) return leave('');
  setTimeout(() => leave(renderHookOutput(TOO_SLOW)), moment === 'end' ? 1400 : 12_000).unref();
  const input = readHookInput(readStdin(), cwd);
  const at = options.indexOf('--principal') + 1;
  const principal = at === 0 ? undefined : options[at];
  const who = principal === undefined ? {} : { principal };
  const claims = options.includes('--claim');
  const call: HookCall = { client, input, claims, env, ...who, stateDir: findStateDir(env) };
  try {
    return leave(renderHookOutput(await answer(moment, call)));
  } catch (error) {
    const note = `the hook failed (${error instanceof Error ? error.message : String(error)}); the session continues`;
    return leave(renderHookOutput({ note }));
  }
}

const TOO_SLOW: HookOutput = { note: 'the daemon does not answer in time; the session continues' };

/** Loads only the module of this event, since the user waits. */
async function answer(moment: string, call: HookCall): Promise<HookOutput> {
  if (moment === 'start') return (await import('./start.ts')).startSession(call);
  if (moment === 'stop') return (await import('./stop.ts')).stopTurn(call);
  if (moment === 'prompt') return (await import('./last-block.ts')).clearBlockOnPrompt(call);
  return moment === 'end' ? (await import('./end.ts')).endSession(call) : {};
}

function leave(text: string): never {
  writeStdout(text);
  process.exit(0);
}
