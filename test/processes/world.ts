import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, openSync, closeSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Client as McpClient } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Client } from '../../src/api/client/client.ts';
import { createClient } from '../../src/api/client/connect.ts';
import { readDaemonRecord, readToken } from '../../src/api/state-folder.ts';
import { newRepository } from '../package/new-repository.ts';
import { requireDeclaredExit } from '../declared-exit.ts';
import { requireDocumentedCodes } from '../documented-codes.ts';
import { requireDeclaredJson } from '../json-outputs.ts';
import { BATON, COMPILE_CACHE, DAEMON, testProgram } from '../package/where.ts';
import { STORE } from '../stores/chosen.ts';
import { findChild } from '../fleet/process-namespace.ts';
import { findLedgerFile } from '../stores/find-ledger-file.ts';
import { Agent } from './agent.ts';
import { findAsked, loosensDefaults } from './agree.ts';
import { endAgents } from './end-agents.ts';
import { Peer } from './peers.ts';
import { acceptUnproven } from './personal.ts';
import { until } from './until.ts';

const QUIET = '--disable-warning=ExperimentalWarning';

export interface WorldOptions {
  /** A repository to clone; by default the world creates one. */
  readonly origin?: string;
  /** The prefix of every command on this machine: `nsenter …`. It starts the program as its child. */
  readonly enter?: readonly string[];
}

export interface DaemonProcessOptions {
  readonly env?: Readonly<Record<string, string>>;
  /**
   * Modules that the daemon's process preloads. They can change globals, but not modules, because the daemon is a
   * bundle.
   */
  readonly imports?: readonly string[];
  /** A shell command to run before the shell becomes the daemon: `ulimit -n 256`. */
  readonly shell?: string;
  /** The folder of another release's package. */
  readonly release?: string;
}

/**
 * A small machine: a folder with a git repository, a state folder, a daemon as a separate process, and other processes
 * that call it. Disposing ends every started process by its id.
 */
export class World implements AsyncDisposable {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), 'baton-world-')));
  readonly repository: string = join(this.folder, 'repo');
  readonly stateDir: string = join(this.folder, 'state');
  readonly env: Readonly<Record<string, string>>;
  /** Whether the person at this machine agrees to a runbook that asks for more than before. */
  agrees = true;
  readonly #children = new Set<ChildProcess>();
  readonly #closing: (() => unknown)[] = [];
  readonly #enter: readonly string[];
  /** What commands printed; their JSON is compared with what they declare at the end, because that loads them. */
  readonly #printed: { readonly args: readonly string[]; readonly typed: Typed }[] = [];
  #daemon: ChildProcess | undefined;
  #daemonPid = 0;
  #operator: Client | undefined;

  constructor(settings: Readonly<Record<string, string>> = {}, { origin, enter = [] }: WorldOptions = {}) {
    this.#enter = enter;
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: this.folder,
      TMPDIR: tmpdir(),
      ...AUTHOR,
      ...COMPILE_CACHE,
      BATON_STATE_DIR: this.stateDir,
      // A daemon that a test kills is not restarted.
      BATON_RESTART: 'off',
      ...STORE,
      ...settings,
    };
    acceptUnproven(this.folder);
    if (origin !== undefined) {
      this.git(this.folder, 'clone', '--quiet', origin, this.repository);
      return;
    }
    newRepository(this.repository, 'readme');
  }

  /** Opens a world with a running daemon. */
  static async open(settings: Readonly<Record<string, string>> = {}): Promise<World> {
    const world = new World(settings);
    try {
      await world.startDaemon();
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  async startDaemon({ env = {}, imports = [], shell, release }: DaemonProcessOptions = {}): Promise<void> {
    mkdirSync(this.stateDir, { recursive: true, mode: 0o700 });
    const log = openSync(join(this.folder, 'daemon.out'), 'a');
    const program = release === undefined ? DAEMON : join(release, 'dist/daemon.cjs');
    const args = [QUIET, ...imports.map((path) => `--import=${path}`), program];
    const inShell = shell === undefined ? [] : ['/bin/sh', '-c', `${shell} && exec "$0" "$@"`];
    const [first = '', ...rest] = [...this.#enter, ...inShell, process.execPath, ...args];
    const child = spawn(first, rest, {
      cwd: this.folder,
      env: { ...this.env, ...env, BATON_READY_FD: '3' },
      stdio: ['ignore', log, log, 'pipe', 'ipc'],
    });
    closeSync(log);
    // Nothing waits for the process: disposing ends it.
    child.channel?.unref();
    this.#children.add(child);
    this.#daemon = child;
    const report = child.stdio[3];
    if (!report || !('setEncoding' in report)) throw new Error('the daemon has no pipe');
    let said = '';
    // `nsenter` holds the pipe too, so the end of the stream never comes.
    for await (const chunk of report.setEncoding('utf8')) if ((said += String(chunk)).endsWith('\n')) break;
    if (!said.startsWith('ready')) throw new Error(`the daemon does not listen: ${said}`);
    const started = child.pid ?? 0;
    this.#operator = undefined;
    this.#daemonPid = this.#enter.length === 0 ? started : await until('it has a process', () => findChild(started));
    if (this.agrees && loosensDefaults(this.repository)) await this.agree();
  }

  /** Adopts the working runbook, as the person does who wrote it. */
  async agree(): Promise<void> {
    const { working } = await this.order('runbook_rules', {});
    const { sha256, loosens } = working as { sha256: string; loosens: boolean }; // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (loosens) await this.order('runbook_adopt', { accept_rules: sha256 });
  }

  get daemonPid(): number {
    return this.#daemonPid;
  }

  /** Stops the daemon's process at any point, without its knowledge. */
  freezeDaemon(): void {
    process.kill(this.#daemonPid, 'SIGSTOP');
  }

  /** `nsenter` stops with its child, and would not collect it at its exit. */
  thawDaemon(): void {
    process.kill(this.#daemonPid, 'SIGCONT');
    this.#daemon?.kill('SIGCONT');
  }

  /** Sends a message to the modules that were preloaded into the daemon's process. */
  tellDaemon(message: string | number): void {
    this.#daemon?.send(message);
  }

  /** Waits until the daemon has exited, for whatever reason. */
  async daemonEnds(): Promise<void> {
    const child = this.#daemon;
    if (child !== undefined && child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  async endDaemon(signal: 'SIGKILL' | 'SIGTERM' = 'SIGTERM'): Promise<void> {
    const child = this.#daemon;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    process.kill(this.#daemonPid, signal);
    await exited;
  }

  /** A client with the folder's operator token, or with the `given` token. */
  client(given?: string): Client {
    return this.#connect(given === undefined ? {} : { token: given });
  }

  /** A client with the folder's worker token. */
  workerClient(): Client {
    return this.#connect({ as: 'worker' });
  }

  #connect(who: { readonly token?: string; readonly as?: 'worker' }): Client {
    // Passes name processes, and the daemon does not know those of another namespace, so it is called at its port.
    const port = this.#enter.length === 0 ? undefined : readDaemonRecord(this.stateDir)?.port;
    const token = who.token ?? readToken(this.stateDir, who.as ?? 'operator') ?? '';
    const atPort = { ...this.env, BATON_URL: `http://127.0.0.1:${port}`, BATON_TOKEN: token };
    const from = port === undefined ? { env: this.env, ...who } : { env: atPort };
    const client = createClient({ ...from, projectPath: this.repository, autostart: false });
    this.#closing.push(() => client.close());
    return client;
  }

  /** Calls an operation as the operator; a refusal fails the test. */
  async order(operation: string, input: unknown): Promise<Record<string, unknown>> {
    const ask = async () => (this.#operator ??= this.client()).forward(operation, input);
    let answer = await ask();
    // At the port, the daemon looks for the caller's socket, which may have been closed and reopened at that moment.
    if (!answer.ok && answer.error.code === 'bad-pass' && this.#enter.length > 0) {
      this.#operator = undefined;
      answer = await ask();
    }
    if (!answer.ok) throw new Error(`${operation}: ${answer.error.code}: ${answer.error.message}`);
    return { ...(answer.result as object) }; // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  /**
   * An agent: the SDK's MCP client, with `baton mcp` as a process on its standard input and output. Each name is a
   * separate principal, unless it is null.
   */
  async agent(
    name: string,
    env: Readonly<Record<string, string>> = {},
    principal: string | null = name.replaceAll(/[^\w.@-]/g, '-'),
  ): Promise<Agent> {
    const client = new McpClient({ name, version: '0' });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [BATON, 'mcp', ...(principal === null ? [] : ['--principal', principal])],
      env: { ...this.env, ...env },
      cwd: this.repository,
      stderr: 'ignore',
    });
    await client.connect(transport);
    this.#closing.push(async () => client.close());
    return new Agent(name, client);
  }

  /** A long-lived process that runs requests. */
  peer(program: 'peer' | 'mixed-worker' | 'drain-worker' = 'peer'): Peer {
    const [first, ...rest] = [...this.#enter, process.execPath, QUIET, testProgram(`processes/${program}`)];
    const child = spawn(first, rest, {
      cwd: this.repository,
      env: { ...this.env, WORLD_REPOSITORY: this.repository },
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#children.add(child);
    return new Peer(child);
  }

  git(cwd: string, ...args: string[]): string {
    return execFileSync('git', args, {
      cwd,
      env: this.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
  }

  /** Runs git like a user, and returns a failure instead of throwing. */
  tryGit(cwd: string, ...args: string[]): { readonly code: number | null; readonly said: string } {
    const ran = spawnSync('git', args, { cwd, env: this.env, encoding: 'utf8' });
    return { code: ran.status, said: ran.stderr };
  }

  write(folder: string, files: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
  }

  /** Writes files and commits them; returns the commit. */
  commit(folder: string, files: Readonly<Record<string, string>>, message: string): string {
    this.write(folder, files);
    this.git(folder, 'add', '--all');
    this.git(folder, 'commit', '--quiet', '--message', message);
    return this.git(folder, 'rev-parse', 'HEAD');
  }

  /** Runs `baton` as it is typed. */
  baton(args: readonly string[], { env = {}, cwd = this.repository, input = '' } = {}): Typed {
    const [program = '', ...rest] = [...this.#enter, process.execPath, BATON, ...args];
    const ran = spawnSync(program, rest, {
      cwd,
      env: { ...this.env, ...env },
      input,
      encoding: 'utf8',
    });
    const typed = { code: ran.status, out: ran.stdout, err: ran.stderr };
    this.#printed.push({ args, typed });
    const asked = this.agrees ? findAsked(typed) : undefined;
    if (asked === undefined || args.includes('--accept-rules')) return typed;
    // The person agrees to what the test wrote, and types the command again.
    this.baton(['runbook', 'adopt', '--accept-rules', asked], { env, cwd });
    return this.baton(args, { env, cwd, input });
  }

  /** Like `baton`, but without blocking this process, in which a proxy may run. */
  async type(args: readonly string[]): Promise<Typed> {
    const [program = '', ...rest] = [...this.#enter, process.execPath, BATON, ...args];
    const child = spawn(program, rest, { cwd: this.repository, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [out, err] = [child.stdout, child.stderr].map(async (stream) => stream.setEncoding('utf8').toArray());
    const exited = once(child, 'exit').then(([code]: (number | null)[]) => code ?? null);
    const typed = { out: (await out)?.join('') ?? '', err: (await err)?.join('') ?? '', code: await exited };
    this.#printed.push({ args, typed });
    return typed;
  }

  /** The file of the ledger or of its replica; a world has only one project. */
  get ledgerFile(): string {
    return findLedgerFile(this.stateDir);
  }

  get project(): string {
    return basename(this.ledgerFile, '.db');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#closing.map(async (close) => close()));
    const exits = [...this.#children]
      .filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)
      .map(async (child) => {
        const exited = once(child, 'exit');
        child.kill('SIGKILL');
        await exited;
      });
    await Promise.all(exits);
    endAgents(this.stateDir);
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
    for (const { args, typed } of this.#printed) {
      await requireDeclaredJson(args, typed.out, typed.code ?? undefined);
      requireDocumentedCodes(args, typed);
      if (typed.code !== null) await requireDeclaredExit(args, typed.code);
    }
  }
}

export interface Typed {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

const AUTHOR = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
};
