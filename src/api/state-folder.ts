import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join, resolve } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder with everything that a daemon owns. Two state folders are two independent Batons. */
export function findStateDir(env: Environment): string {
  const { BATON_STATE_DIR: named, XDG_STATE_HOME: xdg } = env;
  if (named !== undefined && named !== '') return resolve(named);
  // The XDG specification: a relative path is ignored.
  if (xdg !== undefined && isAbsolute(xdg)) return join(xdg, 'baton');
  return join(findHome(env), '.local', 'state', 'baton');
}

/** A client and its daemon stand in different folders: a home that is empty or relative would be two places. */
function findHome(env: Environment): string {
  for (const find of [() => env['HOME'] ?? '', homedir, () => userInfo().homedir]) {
    try {
      const path = find();
      if (isAbsolute(path)) return path;
    } catch {
      // A user without an entry, as in many containers.
    }
  }
  throw new Error('there is no home folder to keep anything in: set HOME, or BATON_STATE_DIR');
}

/** The name of everything in a state folder. */
export function stateFiles(stateDir: string) {
  const file = (name: string): string => join(stateDir, name);
  return {
    record: file('daemon.json'),
    socket: file('daemon.sock'),
    lock: file('daemon'),
    log: file('daemon.log'),
    port: file('daemon.port'),
    /** There while a client starts a daemon, so that others wait for that one. */
    starting: file('daemon.starting'),
    /** Exists from `baton down` until a person or a command starts the daemon again. */
    down: file('daemon.down'),
    /** The newest crash of the daemon, and how many there were in a row. */
    restarts: file('restarts.json'),
    operatorToken: file('operator.token'),
    workerToken: file('worker.token'),
    /** The worker tokens of named principals. */
    workers: file('workers'),
    sessionSecret: file('session.secret'),
    signingKey: file('key.pem'),
    projectList: file('projects.json'),
    projects: file('projects'),
    outbox: file('outbox'),
    ownSessions: file('own-sessions'),
    /** A folder for each agent, and for each shell step, check and gate, that a supervisor runs. */
    agents: file('agents'),
    commands: file('commands'),
    /** One-use files by which clients show that they run outside of every session. */
    passes: file('passes'),
  } as const;
}

/** Whether a client with Baton's hooks ever ran here; most users never run one, and pay nothing for it. */
export function hasOwnSessions(stateDir: string): boolean {
  return existsSync(stateFiles(stateDir).ownSessions);
}

/**
 * Creates a folder that only this user can read, and its parents. Node's recursive mkdir loops forever on file systems such as /proc that
 * report ENOENT for a folder that cannot be created.
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

/** `daemon.json`: how to reach the running daemon. */
export interface DaemonRecord {
  readonly pid: number;
  readonly port: number;
  /** Usually in the state folder; elsewhere if that path is too long for a socket. */
  readonly socket: string;
  readonly version: string;
  readonly started: string;
}

/** The last daemon of this folder; whether it still runs is known only after connecting. */
export function readDaemonRecord(stateDir: string): DaemonRecord | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(stateFiles(stateDir).record, 'utf8'));
    return isDaemonRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isDaemonRecord(value: unknown): value is DaemonRecord {
  if (typeof value !== 'object' || value === null) return false;
  if (!('pid' in value && 'port' in value && 'socket' in value && 'version' in value && 'started' in value))
    return false;
  const { pid, port, socket, version, started } = value;
  const numbers = Number.isSafeInteger(pid) && Number.isSafeInteger(port);
  return numbers && [socket, version, started].every((text) => typeof text === 'string');
}

/** The token of the operator or of workers, for those who may read the state folder; of workers the shared one, or a principal's own. */
export function readToken(stateDir: string, kind: 'operator' | 'worker', principal?: string): string | undefined {
  const { operatorToken, workerToken, workers } = stateFiles(stateDir);
  const ofWorkers = principal === undefined ? workerToken : join(workers, `${principal}.token`);
  try {
    return readFileSync(kind === 'operator' ? operatorToken : ofWorkers, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/**
 * `baton down` is on record as a file, so that whatever restarts a daemon after a crash leaves a stopped one alone. A daemon that a person
 * or a command starts removes the file; one that is restarted stops again if it finds it.
 */
export function recordDownIntent(stateDir: string): void {
  try {
    makeFolder(stateDir);
    writeFileSync(stateFiles(stateDir).down, `${new Date().toISOString()}\n`, { mode: 0o600 });
  } catch {
    // A full disk must not prevent stopping the daemon, which records itself that it was stopped on request.
  }
}

export function hasDownIntent(stateDir: string): boolean {
  return existsSync(stateFiles(stateDir).down);
}

export function clearDownIntent(stateDir: string): void {
  rmSync(stateFiles(stateDir).down, { force: true });
}

/** The name of a principal that a worker token is issued to. It is part of a file name. */
export function isPrincipalName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/.test(name);
}

export const PRINCIPAL_EXPECTED =
  'a principal has 1 to 64 characters (letters, digits, dot, dash, underscore, @), the first a letter or a digit';
