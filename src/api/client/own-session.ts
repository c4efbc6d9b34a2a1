import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { listFolderIfPresent } from '../if-there.ts';
import { readAncestors } from './ancestors.ts';
import { hasOwnSessions, makeFolder, stateFiles } from '../state-folder.ts';
import { writeFileAtomically } from '../files.ts';

/**
 * Sessions that people run themselves, in a client with Baton's hooks. What is said in one of them, by its MCP server, in its shell or at its
 * hooks, is known by the client's process, which is above them all. The claims that were made in it lie in its folder, with their tokens.
 */
export interface OwnSession {
  readonly folder: string;
  readonly client: string;
  /** The client's own name for the conversation. */
  readonly conversation: string;
  /** The client's process. */
  readonly process: string;
  readonly cwd: string;
  /** When it began, or last went on: milliseconds. */
  readonly started: number;
}

export interface OwnClaim {
  readonly task_id: string;
  readonly session_id: string;
  readonly token: string;
  /** The hook made it when the session started; else somebody in the session did. */
  readonly by_hook: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The session that this process runs in; undefined where it runs in none, or in one that Baton itself has started. Some clients name the
 * conversation with each call or to what they start; else it is told by the processes above, of which one may serve several.
 */
export function findOwnSession(stateDir: string, env: Environment, conversation?: string): OwnSession | undefined {
  const named = conversation ?? (env['CODEX_THREAD_ID'] || undefined);
  const sessions = isOwn(stateDir, env) ? listOwnSessions(stateDir) : [];
  const byName = (name: string | undefined) => sessions.find((session) => session.conversation === name);
  // A sandbox may hide the processes above. After `/clear` this name is that of the conversation before.
  const around = findAround(sessions).filter(({ client }) => named === undefined || client !== 'codex');
  return byName(named) ?? around.at(-1) ?? byName(env['CLAUDE_CODE_SESSION_ID'] || undefined);
}

/** All sessions of the client's process that this one runs in. */
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

/** The newest word about a claim counts. */
export function saveOwnClaim(session: OwnSession, claim: OwnClaim): void {
  const { folder } = session;
  makeFolder(join(folder, 'claims'));
  removeOwnClaim(session, claim);
  writeFileAtomically(claimFile(folder, claim, Date.now()), JSON.stringify(claim));
}

export function removeOwnClaim({ folder }: OwnSession, { session_id }: OwnClaim): void {
  for (const name of listFolderIfPresent(join(folder, 'claims')))
    if (name.endsWith(`-${session_id}.json`)) rmSync(join(folder, 'claims', name), { force: true });
}

function claimFile(folder: string, { session_id }: OwnClaim, at: number): string {
  return join(folder, 'claims', `${String(at).padStart(15, '0')}-${session_id}.json`);
}

function ownFolder(stateDir: string): string {
  return stateFiles(stateDir).ownSessions;
}

function nameOf({ client, conversation, process: identity }: Omit<OwnSession, 'folder'>): string {
  return `${client}-${conversation || identity}`.replaceAll(/[^\w.-]/g, '_').slice(0, 200);
}

function readSession(folder: string): OwnSession | undefined {
  const fields = readFields(join(folder, 'session.json'));
  const { client, conversation, process: identity, cwd, started } = fields;
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
  try {
    const fields: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const pairs = typeof fields === 'object' && fields !== null ? Object.entries(fields) : [];
    return Object.fromEntries(pairs.map(([name, value]) => [name, String(value)]));
  } catch {
    return {};
  }
}
