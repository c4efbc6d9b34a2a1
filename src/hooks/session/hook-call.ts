import type { Client } from '../../api/client/client.ts';
import { createClient } from '../../api/client/connect.ts';
import { type Ancestor, readAncestors } from '../../api/client/own-session.ts';
import { fieldsInJson, textOf } from '../../protocol/shape/read-unknown.ts';
import type { ClientName } from '../client.ts';

/** The fields of a client's hook input that Baton uses; empty if the input cannot be parsed. */
export interface HookInput {
  readonly conversation: string;
  readonly cwd: string;
  /** Whether the turn continues because a stop hook blocked it before. */
  readonly isHookActive: boolean;
  /** Why the session begins: startup, resume, clear or compact. */
  readonly source: string;
  readonly reason: string;
  /** The prompt of the turn that ends; only Gemini CLI sends it. */
  readonly prompt: string;
}

export function readHookInput(bytes: Uint8Array, cwd: string): HookInput {
  const fields = fieldsInJson(new TextDecoder().decode(bytes));
  const text = (name: string): string => textOf(fields[name]);
  return {
    conversation: text('session_id'),
    cwd: text('cwd') || cwd,
    isHookActive: fields['stop_hook_active'] === true,
    source: text('source'),
    reason: text('reason'),
    prompt: text('prompt'),
  };
}

/** A hook's result: text for the model at the start, a block at a stop, and one line for the user. */
export interface HookOutput {
  readonly context?: string;
  readonly block?: string;
  readonly note?: string;
}

/** The format that all three clients read. Empty if there is nothing to report. */
export function renderHookOutput({ context, block, note }: HookOutput): string {
  const output = {
    ...(block === undefined ? {} : { decision: 'block', reason: block }),
    ...(context === undefined
      ? {}
      : { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: context } }),
    ...(note === undefined ? {} : { systemMessage: `Baton: ${note}` }),
  };
  return Object.keys(output).length === 0 ? '' : JSON.stringify(output);
}

export interface HookCall {
  readonly client: ClientName;
  readonly input: HookInput;
  readonly claims: boolean;
  readonly principal?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
}

/** The user waits for every hook, so the timeouts are short. */
export function connectAsWorker(
  { env, input, principal }: HookCall,
  { autostart, reachMs }: { autostart: boolean; reachMs: number },
): Client {
  const who = principal === undefined ? {} : { principal };
  return createClient({ env, as: 'worker', ...who, projectPath: input.cwd, autostart, reachMs });
}

/** The client's process: the nearest ancestor that is not a shell. */
export function findClientProcess(): Ancestor | undefined {
  return readAncestors().find(({ program }) => !SHELLS.test(program));
}

const SHELLS = /^-?(?:ba|da|z|k|a|fi)?sh$|^(?:busybox|env|timeout|nu)$/;
