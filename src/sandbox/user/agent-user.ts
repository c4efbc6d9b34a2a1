import { execFile } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { UserSpec } from '../../protocol/sandbox.ts';

/** The user that agents run as. `doctor --fix` creates it, see `set-up-agent-user.ts`. */
export const AGENT_USER = 'baton-agent';
/**
 * Contains a folder for each state folder, with the HOME, the settings and the private git directory of its sessions.
 */
export const AGENT_SESSIONS = '/var/lib/baton-agent/sessions';
export const WRAPPER = '/usr/local/libexec/baton-as-agent';

export type UserMode =
  | { readonly ok: true; readonly user: UserSpec }
  | { readonly ok: false; readonly reason: string; readonly fix: string };

/** Reports whether sessions can run as another user, by running a program as that user. */
export async function isUserModeSetUp(): Promise<UserMode> {
  const user = findAgentUser(systemRoot());
  if (user === undefined) return { ok: false, reason: `there is no user ${AGENT_USER}`, fix: FIX };
  if (statSync(agentSessions(), { throwIfNoEntry: false })?.gid !== user.gid)
    return { ok: false, reason: `${AGENT_SESSIONS} does not belong to the group ${AGENT_USER}`, fix: FIX };
  if (!isRoot() && process.getgroups?.().includes(user.gid) !== true)
    return {
      ok: false,
      reason: `you are not in the group ${AGENT_USER}`,
      fix: `${FIX} Then log in again, and: baton down && baton up`,
    };
  const ran = await runAs(user, ['true']);
  return ran.ok ? { ok: true, user } : { ok: false, reason: ran.reason, fix: FIX };
}

const FIX = 'As root: baton doctor --fix';

/** The root folder of the system; tests have their own. */
export function systemRoot(): string {
  return process.env['BATON_TEST_SYSTEM'] ?? '/';
}

export function agentSessions(): string {
  return join(systemRoot(), AGENT_SESSIONS);
}

export function isRoot(): boolean {
  return process.getuid?.() === 0;
}

/** Returns undefined if there is no such user. `prefix`: the root folder of the system. */
export function findAgentUser(prefix = '/'): UserSpec | undefined {
  const [, , uid, gid] = fieldsOf(join(prefix, 'etc/passwd'), AGENT_USER) ?? [];
  return uid === undefined || gid === undefined ? undefined : { name: AGENT_USER, uid: Number(uid), gid: Number(gid) };
}

/** The fields of a line of /etc/passwd or /etc/group. */
export function fieldsOf(file: string, name: string): readonly string[] | undefined {
  try {
    const line = readFileSync(file, 'utf8')
      .split('\n')
      .find((each) => each.startsWith(`${name}:`));
    return line?.split(':');
  } catch {
    return undefined;
  }
}

/**
 * The words that run a program as the agent's user. `umask` 0007 keeps its files accessible to the operator's group.
 * `passed`: the variables that sudo passes on by name, so that their values do not become arguments.
 */
export function asAgent({ name, uid, gid }: UserSpec, passed: readonly string[], asRoot = isRoot()): readonly string[] {
  if (!asRoot)
    return ['sudo', '-n', '-u', name, ...(passed.length === 0 ? [] : [`--preserve-env=${passed.join(',')}`]), WRAPPER];
  const ids = ['--reuid', String(uid), '--regid', String(gid), '--clear-groups'];
  const rights = ['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all'];
  return ['setpriv', ...ids, ...rights, '--', '/bin/sh', '-c', 'umask 0007 && exec "$@"', 'sh'];
}

export type RunAs = { readonly ok: true; readonly output: string } | { readonly ok: false; readonly reason: string };

/**
 * Runs a program as the agent's user, without variables. The end of a session may kill all of the user's processes
 * (`endUserProcesses`), including this one: then it is repeated.
 */
export async function runAs(user: UserSpec, argv: readonly string[], tries = TRIES): Promise<RunAs> {
  const [program = '', ...args] = [...asAgent(user, []), ...argv];
  return new Promise((resolve) => {
    const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
    const options = { timeout: RUN_MS, killSignal: 'SIGKILL', cwd: '/', env } as const;
    execFile(program, args, options, (error, output, errors) => {
      if (error === null) resolve({ ok: true, output });
      else if (error.signal === 'SIGKILL' && error.killed !== true && tries > 1) resolve(runAs(user, argv, tries - 1));
      else resolve({ ok: false, reason: errors.trim().split('\n').at(-1) || error.message });
    });
  });
}

const RUN_MS = 60_000;
const TRIES = 5;
