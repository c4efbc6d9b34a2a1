import type { Client } from '../../api/client/client.ts';
import { createClient } from '../../api/client/connect.ts';
import { type Ancestor, readAncestors } from '../../api/client/own-session.ts';
import { findStateDir } from '../../api/state-folder.ts';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';
import type { ClientName } from '../client.ts';

/** What a client tells its hooks, as far as it is needed here. What cannot be read says nothing. */
export interface HookInput {
  readonly conversation: string;
  readonly cwd: string;
  /** It goes on because a stop hook blocked it before. */
  readonly isHookActive: boolean;
  /** Why a session begins: startup, resume, clear, compact. */
  readonly source: string;
  /** Why it ends: clear, logout, exit, … */
  readonly reason: string;
  /** What the turn that ends was asked; Gemini CLI names it. */
  readonly prompt: string;
}

export function readHookInput(bytes: Uint8Array, cwd: string): HookInput {
  const fields = fieldsInJson(new TextDecoder().decode(bytes));
  const text = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value : '';
  };
  return {
    conversation: text('session_id'),
    cwd: text('cwd') || cwd,
    isHookActive: fields['stop_hook_active'] === true,
    source: text('source'),
    reason: text('reason'),
    prompt: text('prompt'),
  };
}

/** What a hook hands back: words for the model at the start, a block at a stop, and one line for the person. */
export interface HookOutput {
  readonly context?: string;
  readonly block?: string;
  readonly note?: string;
}

/** As all three clients read it. Nothing at all where there is nothing to say. */
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

/** One call of a hook. */
export interface HookCall {
  readonly client: ClientName;
  readonly input: HookInput;
  /** The session is to have a task from its start. */
  readonly claims: boolean;
  /** Whose worker token it uses. */
  readonly principal?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
}

export function hookCall(call: Omit<HookCall, 'stateDir'>): HookCall {
  return { ...call, stateDir: findStateDir(call.env) };
}

/** A worker's way to the daemon. A person waits for every hook: nobody is waited for long. */
export function connectAsWorker(
  { env, input, principal }: HookCall,
  { autostart, reachMs }: { autostart: boolean; reachMs: number },
): Client {
  const who = principal === undefined ? {} : { principal };
  return createClient({ env, as: 'worker', ...who, projectPath: input.cwd, autostart, reachMs });
}

/** The client's process: the nearest above this one that is not just a shell between the two. */
export function findClientProcess(): Ancestor | undefined {
  return readAncestors().find(({ program }) => !SHELLS.test(program));
}

const SHELLS = /^-?(?:ba|da|z|k|a|fi)?sh$|^(?:busybox|env|timeout|nu)$/;
