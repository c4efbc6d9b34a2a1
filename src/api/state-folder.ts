import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { fieldsInJson } from '../protocol/shape/read-unknown.ts';
import { readFileIfPresent } from './files.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the state folder. Two state folders are two independent installations of Baton. */
export function findStateDir(env: Environment): string {
  const { BATON_STATE_DIR: named, XDG_STATE_HOME: xdg } = env;
  if (named !== undefined && named !== '') return resolve(named);
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'baton');
  return join(findHome(env), '.local', 'state', 'baton');
}

/** Requires an absolute home, because client and daemon have different working folders. */
function findHome(env: Environment): string {
  for (const find of [() => env['HOME'] ?? '', homedir, () => userInfo().homedir]) {
    try {
      const path = find();
      if (isAbsolute(path)) return path;
    } catch {}
  }
  throw new Error('there is no home folder for the state folder: set HOME or BATON_STATE_DIR');
}

export function stateFiles(stateDir: string) {
  const file = (name: string): string => join(stateDir, name);
  return {
    record: file('daemon.json'),
    socket: file('daemon.sock'),
    lock: file('daemon'),
    log: file('daemon.log'),
    port: file('daemon.port'),
    /** Exists while a client starts a daemon, so that other clients wait. */
    starting: file('daemon.starting'),
    /** Exists from `baton down` until a person or a command starts the daemon again. */
    down: file('daemon.down'),
    /** The newest crash, and how many there were in a row. */
    restarts: file('restarts.json'),
    operatorToken: file('operator.token'),
    workerToken: file('worker.token'),
    /** A token for programs that only read metrics. */
    metricsToken: file('metrics.token'),
    workers: file('workers'),
    sessionSecret: file('session.secret'),
    signingKey: file('key.pem'),
    /** The public keys of pages that act for the operator. */
    pageKeys: file('page-keys.json'),
    /** Runs that sessions of editors started, for `baton acp`. */
    editorSessions: file('editor-sessions'),
    projectList: file('projects.json'),
    projects: file('projects'),
    /** The name of this state folder in a fleet. */
    host: file('host.json'),
    outbox: file('outbox'),
    ownSessions: file('own-sessions'),
    /** What `baton init` wrote to each repository. */
    init: file('init'),
    /** One folder per run: for agents, and for shell steps, checks and gates. */
    agents: file('agents'),
    commands: file('commands'),
    /** Single-use files by which clients prove that they run outside of every session. */
    passes: file('passes'),
  } as const;
}

export function hasOwnSessions(stateDir: string): boolean {
  return existsSync(stateFiles(stateDir).ownSessions);
}

/**
 * Makes a private folder. Node's recursive mkdir loops forever on file systems such as /proc that report ENOENT for it.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    // Another process was faster.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

export interface DaemonRecord {
  readonly pid: number;
  readonly port: number;
  /** Outside the state folder if that path is too long for a socket. */
  readonly socket: string;
  readonly version: string;
  readonly started: string;
}

/** The record of the last daemon. Only a connection shows whether it runs. */
export function readDaemonRecord(stateDir: string): DaemonRecord | undefined {
  const { pid, port, socket, version, started } = fieldsInJson(readFileIfPresent(stateFiles(stateDir).record));
  if (typeof pid !== 'number' || typeof port !== 'number' || !Number.isSafeInteger(pid) || !Number.isSafeInteger(port))
    return undefined;
  if (typeof socket !== 'string' || typeof version !== 'string' || typeof started !== 'string') return undefined;
  return { pid, port, socket, version, started };
}

export function readToken(stateDir: string, kind: 'operator' | 'worker', principal?: string): string | undefined {
  const { operatorToken, workerToken, workers } = stateFiles(stateDir);
  const ofWorkers = principal === undefined ? workerToken : join(workers, `${principal}.token`);
  try {
    return readFileSync(kind === 'operator' ? operatorToken : ofWorkers, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Prevents restarts until a person or a command starts the daemon, which removes the file. */
export function recordDownIntent(stateDir: string): void {
  try {
    makeFolder(stateDir);
    writeFileSync(stateFiles(stateDir).down, `${new Date().toISOString()}\n`, { mode: 0o600 });
  } catch {
    // A full disk must not prevent stopping the daemon, which also records the intent itself.
  }
}

export function hasDownIntent(stateDir: string): boolean {
  return existsSync(stateFiles(stateDir).down);
}

export function clearDownIntent(stateDir: string): void {
  rmSync(stateFiles(stateDir).down, { force: true });
}

/** Restricts the name, because it becomes part of a file name. */
export function isPrincipalName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/.test(name);
}

export const PRINCIPAL_EXPECTED =
  'a principal has 1 to 64 characters (letters, digits, dot, dash, underscore, @), the first a letter or a digit';
