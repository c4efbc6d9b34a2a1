import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { Readable } from 'node:stream';
import { newRepository } from '../../test/package/new-repository.ts';
import { COMPILE_CACHE, DAEMON } from '../../test/package/where.ts';
import { acceptUnproven } from '../../test/processes/personal.ts';
import { until as waitUntil } from '../../test/processes/until.ts';
import { readLedger } from '../../test/processes/ledger.ts';
import { STORE } from '../../test/stores/chosen.ts';
import { findLedgerFile } from '../../test/stores/find-ledger-file.ts';
import { makePass } from '../api/operator-pass.ts';
import { readDaemonRecord, readToken } from '../api/state-folder.ts';
import type { Entry } from '../ledger/format/entry.ts';
import { runDaemon, type Daemon } from './lifecycle.ts';

/** The folders and processes of one test. `end` removes them. */
export class Scene {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'baton-daemon-'));
  readonly stateDir: string = join(this.folder, 'state');
  readonly #children = new Set<ChildProcess>();

  /** Built from nothing, so that the machine's own settings neither affect the test nor reach agents. */
  readonly env: Record<string, string | undefined> = {
    PATH: process.env['PATH'],
    HOME: this.folder,
    TMPDIR: tmpdir(),
    BATON_STATE_DIR: this.stateDir,
    BATON_RESTART: 'off',
    ...COMPILE_CACHE,
    ...STORE,
  };

  constructor() {
    acceptUnproven(this.folder);
  }

  /** A git repository with one commit. */
  makeRepository(name = 'repo'): string {
    const path = join(this.folder, name);
    newRepository(path, 'empty');
    return path;
  }

  /** Starts a daemon in this process. */
  async runDaemon(env: Record<string, string | undefined> = {}): Promise<Daemon> {
    const started = await runDaemon({ stateDir: this.stateDir, env: { ...this.env, ...env } });
    if (!started.ok) throw new Error(started.error.message);
    return started.daemon;
  }

  /** Starts a daemon as a separate process, and waits until it reports whether it listens. */
  async spawnDaemon(env: Record<string, string | undefined> = {}): Promise<SpawnedDaemon> {
    const child = spawn(process.execPath, [DAEMON], {
      env: { ...this.env, ...env, BATON_READY_FD: '3' },
      stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
    });
    this.#children.add(child);
    const exited = once(child, 'exit').then(([code, signal]: (number | string | null)[]) => code ?? signal);
    const said = (await (child.stdio[3] as Readable).toArray()).join(''); // oxlint-disable-line typescript/no-unsafe-type-assertion
    return { child, said: said.trim(), exited };
  }

  /** Runs a program in a separate process, and returns what it prints. */
  async run(source: string, env: Record<string, string | undefined> = {}): Promise<string> {
    const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], {
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#children.add(child);
    return (await child.stdout.toArray()).join('');
  }

  /** The entries of the only project, without those that only a fleet records. */
  async entries(): Promise<Entry[]> {
    const ledgerFile = findLedgerFile(this.stateDir);
    return readLedger({ ledgerFile, project: basename(ledgerFile, '.db') });
  }

  token(kind: 'operator' | 'worker' = 'operator'): string {
    return readToken(this.stateDir, kind) ?? '';
  }

  /** Returns the name of a new pass. The client makes one for each connection to the Unix socket. */
  pass(): string {
    return makePass(this.stateDir) ?? '';
  }

  async end(): Promise<void> {
    for (const child of this.#children) child.kill('SIGKILL');
    const record = readDaemonRecord(this.stateDir);
    // A daemon that a client started is not a child of this process. Its record in the test's folder shows that it
    // belongs to the test.
    if (record !== undefined && record.pid !== process.pid && isDaemon(record.pid)) process.kill(record.pid, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export interface SpawnedDaemon {
  readonly child: ChildProcess;
  readonly said: string;
  readonly exited: Promise<number | string | null | undefined>;
}

export interface Heard {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly answer: { readonly ok: boolean; readonly result?: unknown; readonly error?: { readonly code: string } };
}

/** Sends one request with exactly the given headers. */
export async function ask(where: RequestOptions, body?: string | Buffer): Promise<Heard> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent: false, ...where }, (response) => {
      const read = async (): Promise<void> => {
        const text = (await response.toArray()).join('');
        resolve({ status: response.statusCode, headers: response.headers, answer: JSON.parse(text) });
      };
      read().catch(reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Polls for a condition that no event reports, with a deadline. */
export async function until(holds: () => boolean | Promise<boolean>, what: string, timeoutMs = 60_000): Promise<void> {
  await waitUntil(what, holds, timeoutMs);
}

export function isDaemon(pid: number): boolean {
  const path = `/proc/${pid}/cmdline`;
  return existsSync(path) && /daemon(?:\/main\.ts|\.cjs)/.test(readFileSync(path, 'utf8'));
}
