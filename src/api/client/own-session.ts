import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fieldsInJson } from '../../protocol/shape/read-unknown.ts';
import { listFolderIfPresent, readFileIfPresent, writeFileAtomically } from '../files.ts';
import type { Claim } from '../operations/tasks.ts';
import { readBootId, readProcStat } from '../processes.ts';
import { hasOwnSessions, makeFolder, stateFiles } from '../state-folder.ts';

/**
 * A session that a person runs in a client with Baton's hooks. A call belongs to it if the client's process is among
 * the caller's ancestors.
 */
export interface OwnSession {
  readonly folder: string;
  readonly client: string;
  readonly conversation: string;
  readonly process: string;
  readonly cwd: string;
  /** When the session started or was last resumed, in milliseconds. */
  readonly started: number;
}

export interface OwnClaim {
  readonly task_id: string;
  readonly session_id: string;
  readonly token: string;
  readonly by_hook: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns undefined if the process has no such session, or if Baton started it. The conversation's name decides;
 * without one, the ancestor processes.
 */
export function findOwnSession(stateDir: string, env: Environment, conversation?: string): OwnSession | undefined {
  const named = conversation ?? (env['CODEX_THREAD_ID'] || undefined);
  const sessions = isOwn(stateDir, env) ? listOwnSessions(stateDir) : [];
  const byName = (name: string | undefined) => sessions.find((session) => session.conversation === name);
  // A sandbox may hide the ancestor processes. After `/clear` this variable still names the previous conversation.
  const around = findAround(sessions).filter(({ client }) => named === undefined || client !== 'codex');
  return byName(named) ?? around.at(-1) ?? byName(env['CLAUDE_CODE_SESSION_ID'] || undefined);
}

export function findSessionsAround(stateDir: string, env: Environment): readonly OwnSession[] {
  return isOwn(stateDir, env) ? findAround(listOwnSessions(stateDir)) : [];
}

function isOwn(stateDir: string, env: Environment): boolean {
  return !env['BATON_TOKEN'] && !env['BATON_AGENT_ID'] && hasOwnSessions(stateDir);
}

function findAround(sessions: readonly OwnSession[]): readonly OwnSession[] {
  if (sessions.length === 0) return [];
  for (const { identity } of readAncestors()) {
    const found = sessions.filter((session) => session.process === identity);
    if (found.length > 0) return found.toSorted((one, other) => one.started - other.started);
  }
  return [];
}

export function listOwnSessions(stateDir: string): readonly OwnSession[] {
  return listFolderIfPresent(ownFolder(stateDir)).flatMap((name) => readSession(join(ownFolder(stateDir), name)) ?? []);
}

export function saveOwnSession(stateDir: string, session: Omit<OwnSession, 'folder'>): OwnSession {
  const folder = join(ownFolder(stateDir), nameOf(session));
  makeFolder(join(folder, 'claims'));
  writeFileAtomically(join(folder, 'session.json'), JSON.stringify(session));
  return { ...session, folder };
}

export function removeOwnSession({ folder }: OwnSession): void {
  rmSync(folder, { recursive: true, force: true });
}

/** Oldest first. */
export function listOwnClaims({ folder }: OwnSession): readonly OwnClaim[] {
  return listFolderIfPresent(join(folder, 'claims'))
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .flatMap((name) => readClaim(join(folder, 'claims', name)) ?? []);
}

export function saveOwnClaim(session: OwnSession, claim: OwnClaim): void {
  const { folder } = session;
  makeFolder(join(folder, 'claims'));
  removeOwnClaim(session, claim);
  const name = `${String(Date.now()).padStart(15, '0')}-${claim.session_id}.json`;
  writeFileAtomically(join(folder, 'claims', name), JSON.stringify(claim));
}

export function removeOwnClaim({ folder }: OwnSession, { session_id }: OwnClaim): void {
  for (const name of listFolderIfPresent(join(folder, 'claims')))
    if (name.endsWith(`-${session_id}.json`)) rmSync(join(folder, 'claims', name), { force: true });
}

function ownFolder(stateDir: string): string {
  return stateFiles(stateDir).ownSessions;
}

function nameOf({ client, conversation, process: identity }: Omit<OwnSession, 'folder'>): string {
  return `${client}-${conversation || identity}`.replaceAll(/[^\w.-]/g, '_').slice(0, 200);
}

function readSession(folder: string): OwnSession | undefined {
  const { client, conversation, process: identity, cwd, started } = readFields(join(folder, 'session.json'));
  if (client === undefined || conversation === undefined || identity === undefined || cwd === undefined)
    return undefined;
  return { folder, client, conversation, process: identity, cwd, started: Number(started ?? 0) };
}

function readClaim(path: string): OwnClaim | undefined {
  const { task_id, session_id, token, by_hook } = readFields(path);
  if (task_id === undefined || session_id === undefined || token === undefined) return undefined;
  return { task_id, session_id, token, by_hook: by_hook === 'true' };
}

function readFields(path: string): Readonly<Record<string, string>> {
  const pairs = Object.entries(fieldsInJson(readFileIfPresent(path)));
  return Object.fromEntries(pairs.map(([name, value]) => [name, String(value)]));
}

interface ClaimContext {
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly conversation: string | undefined;
}

/** Returns the token of the named claim, or of the newest one. Undefined if this session did not claim it. */
export function findOwnToken(
  { stateDir, env, conversation }: ClaimContext,
  operation: string,
  body: string,
): string | undefined {
  if (!CLAIM_OPERATIONS.has(operation)) return undefined;
  const session = findOwnSession(stateDir, env, conversation);
  const claims = session === undefined ? [] : listOwnClaims(session);
  if (claims.length === 0) return undefined;
  const { task_id, agent_id } = fieldsInJson(body);
  if (typeof task_id === 'string') return claims.findLast((claim) => claim.task_id === task_id)?.token;
  if (typeof agent_id === 'string') return claims.findLast((claim) => claim.session_id === agent_id)?.token;
  return claims.at(-1)?.token;
}

export function saveGrantedClaim(
  { stateDir, env, conversation }: ClaimContext,
  { task_id, session_id, token }: Claim,
): void {
  const session = findOwnSession(stateDir, env, conversation);
  if (session !== undefined) saveOwnClaim(session, { task_id, session_id, token, by_hook: false });
}

const CLAIM_OPERATIONS: ReadonlySet<string> = new Set([
  'agent_signal',
  'exit_signal',
  'form_get',
  'handoff_send',
  'mission_get',
  'result_submit',
  'task_complete',
  'task_heartbeat',
  'task_release',
  'task_update',
  'task_worktree',
  'thought_record',
]);

export interface Ancestor {
  readonly pid: number;
  /** Unique over time, unlike `pid`. */
  readonly identity: string;
  readonly program: string;
}

export function readAncestors(pid: number = process.pid, read: ReadProcess = readProcess): readonly Ancestor[] {
  const found: Ancestor[] = [];
  for (let each = read(pid)?.parent ?? 0; each > 1 && found.length < MAX_ANCESTORS;) {
    const seen = read(each);
    if (seen === undefined) break;
    found.push({ pid: each, identity: seen.identity, program: seen.program });
    each = seen.parent;
  }
  return found;
}

type ReadProcess = (
  pid: number,
) => { readonly parent: number; readonly identity: string; readonly program: string } | undefined;

const readProcess: ReadProcess = (pid) => (HAS_PROC ? readProc(pid) : readPs(pid));
const HAS_PROC = readProc(process.pid) !== undefined;

function readProc(pid: number): ReturnType<ReadProcess> {
  const [boot, stat] = [readBootId(), readProcStat(pid)];
  if (boot === undefined || stat === undefined) return undefined;
  return { parent: stat.parent, identity: `${boot}/${pid}/${stat.started}`, program: stat.program };
}

export function readPs(pid: number): ReturnType<ReadProcess> {
  try {
    const line = execFileSync('ps', ['-o', 'ppid=,lstart=,comm=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { ...process.env, LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [, parent, started = '', program = ''] =
      /^\s*(\d+)\s+(\w+\s+\w+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/.exec(line.trimEnd()) ?? [];
    if (parent === undefined) return undefined;
    return { parent: Number(parent), identity: `ps/${pid}/${started}`, program: program.split('/').at(-1) ?? '' };
  } catch {
    return undefined;
  }
}

const MAX_ANCESTORS = 64;
