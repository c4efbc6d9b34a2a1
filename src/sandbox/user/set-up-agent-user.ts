import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AGENT_SESSIONS, AGENT_USER, fieldsOf, findAgentUser, isRoot, WRAPPER } from './agent-user.ts';

export interface AgentUserSetUp {
  /** The user who runs the daemon. */
  readonly operator: string;
  /** The root folder of the system to change; for tests. */
  readonly prefix?: string;
}

export type SetUpResult =
  /** The steps that were taken; empty if nothing was missing. */
  | { readonly ok: true; readonly steps: readonly string[] }
  | { readonly ok: false; readonly steps: readonly string[]; readonly reason: string };

/**
 * Creates the user that agents run as, and lets the operator run programs as that user. The operator gets no other
 * right, and the agent's user none at all. Needs root, and can be repeated.
 */
export function setUpAgentUser({ operator, prefix = '/' }: AgentUserSetUp): SetUpResult {
  const steps: string[] = [];
  if (!isRoot()) return { ok: false, steps, reason: 'only root can add a user: sudo baton doctor --fix' };
  if (!/^[A-Za-z_][\w-]{0,31}$/.test(operator)) return { ok: false, steps, reason: `no user has the name ${operator}` };
  try {
    addUser(prefix, steps);
    addFolders(prefix, steps);
    if (operator !== 'root') admitOperator(operator, prefix, steps);
    return { ok: true, steps };
  } catch (error) {
    return { ok: false, steps, reason: error instanceof Error ? error.message : String(error) };
  }
}

function addUser(prefix: string, steps: string[]): void {
  if (fieldsOf(join(prefix, 'etc/group'), AGENT_USER) === undefined)
    run(['groupadd', '--prefix', prefix, '--system', AGENT_USER], steps);
  const words = ['--system', '--gid', AGENT_USER, '--home-dir', dirname(AGENT_SESSIONS), '--no-create-home'];
  if (findAgentUser(prefix) === undefined)
    run(['useradd', '--prefix', prefix, ...words, '--shell', '/usr/sbin/nologin', AGENT_USER], steps);
}

/**
 * Creates the folders with the sticky bit: a session can neither remove another session's folder nor replace it by a
 * link.
 */
function addFolders(prefix: string, steps: string[]): void {
  const gid = findAgentUser(prefix)?.gid ?? 0;
  const sessions = join(prefix, AGENT_SESSIONS);
  const stat = statSync(sessions, { throwIfNoEntry: false });
  if (stat !== undefined && stat.gid === gid && stat.uid === 0 && (stat.mode & 0o7777) === SESSIONS_MODE) return;
  mkdirSync(sessions, { recursive: true, mode: 0o755 });
  chownSync(sessions, 0, gid);
  chmodSync(sessions, SESSIONS_MODE);
  steps.push(`made ${sessions}`);
}

const SESSIONS_MODE = 0o3770;

function admitOperator(operator: string, prefix: string, steps: string[]): void {
  const members = fieldsOf(join(prefix, 'etc/group'), AGENT_USER)?.[3] ?? '';
  if (!members.split(',').includes(operator))
    run(['usermod', '--prefix', prefix, '--append', '--groups', AGENT_USER, operator], steps);
  writeOwned(join(prefix, WRAPPER), 0o755, WRAPPER_SCRIPT, steps);
  writeOwned(join(prefix, '/etc/sudoers.d', AGENT_USER), 0o440, sudoersFor(operator), steps);
}

/** Disables setuid programs below it: the agent's user cannot use sudo or su. */
const WRAPPER_SCRIPT = `#!/bin/sh
# Written by baton doctor --fix. Runs a program as ${AGENT_USER}, for the users that /etc/sudoers.d/${AGENT_USER} names.
[ "$(id -un)" = ${AGENT_USER} ] || { echo "only for ${AGENT_USER}" >&2; exit 126; }
umask 0007
exec setpriv --no-new-privs -- "$@"
`;

/** SETENV makes sudo pass variables by name, so that their values are not among the arguments. */
export function sudoersFor(operator: string): string {
  return `# Written by baton doctor --fix. ${operator} may run programs as ${AGENT_USER}, who has no rights of its own.
Defaults!${WRAPPER} !requiretty, !use_pty
${operator} ALL=(${AGENT_USER}) NOPASSWD:SETENV: ${WRAPPER}
`;
}

/** Replaces a file atomically: sudo treats a half-written file as an error, and then refuses every user. */
function writeOwned(path: string, mode: number, text: string, steps: string[]): void {
  if (readText(path) === text && (statSync(path).mode & 0o777) === mode && statSync(path).uid === 0) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
  // sudo ignores file names with a dot.
  const draft = `${path}.draft`;
  rmSync(draft, { force: true });
  writeFileSync(draft, text, { mode, flag: 'wx' });
  chmodSync(draft, mode);
  renameSync(draft, path);
  steps.push(`wrote ${path}`);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function run([program = '', ...args]: readonly string[], steps: string[]): void {
  // A user's PATH often lacks the folders of these programs.
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin` };
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env });
  steps.push([program, ...args].join(' '));
}
