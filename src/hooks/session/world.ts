import { readAncestors, type Ancestor } from '../../api/client/ancestors.ts';
import type { Client } from '../../api/client/client.ts';
import { createClient } from '../../api/client/connect.ts';
import { findStateDir } from '../../api/state-folder.ts';
import type { ClientName } from '../client.ts';
import type { HookInput } from './hook-call.ts';

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
