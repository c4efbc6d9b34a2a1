import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  closeSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../test/processes/until.ts';
import type { Exit } from '../protocol/agent-report.ts';
import { agentFiles, type Control, type HookConfig, type Launch, type Running } from './contract.ts';
import { DaemonStandIn, type Answers } from './daemon-stand-in.cases.ts';
import { findAlive } from './process/process-tree.ts';
import { findPrograms, supervisorArgs } from './programs.ts';

let scenes = 0;

/** A state folder with a stand-in daemon and supervisors. Disposing ends everything that was started. */
export class Scene implements AsyncDisposable {
  readonly folder: string = realpathSync(mkdtempSync(join(tmpdir(), 'baton-scene-')));
  readonly stateDir: string = join(this.folder, 'state');
  readonly cwd: string = join(this.folder, 'work');
  readonly daemon: DaemonStandIn;
  /** Environment of the supervisors, besides PATH. */
  readonly env: Record<string, string> = {};
  /** Unique, so that concurrent tests do not find each other's processes. */
  readonly agentId: string = `agent-${process.pid}-${(scenes += 1)}`;
  readonly #supervisors: ChildProcess[] = [];
  readonly #ids = new Set<string>();

  constructor(answers: Answers = {}) {
    mkdirSync(this.stateDir, { mode: 0o700 });
    mkdirSync(this.cwd);
    this.daemon = new DaemonStandIn(this.stateDir, answers);
  }

  files(id = this.agentId) {
    return agentFiles(this.stateDir, id);
  }

  /** Writes the launch and the hook configuration, and starts the supervisor. */
  async start(launch: Partial<Launch>, config: HookConfig | undefined = { on_stop: 'signal' }): Promise<Supervised> {
    const whole: Launch = { ...launchIn(this), ...launch };
    const files = this.files(whole.id);
    mkdirSync(files.folder, { recursive: true, mode: 0o700 });
    if (config !== undefined) writeFileSync(files.config, JSON.stringify({ start: whole.start, ...config }));
    writeFileSync(files.launch(whole.start), JSON.stringify(whole), { mode: 0o600 });
    return this.supervise(whole);
  }

  /** Starts the supervisor for an existing launch file. */
  async supervise(launch: Launch): Promise<Supervised> {
    const programs = await findPrograms(PROGRAMS);
    const files = this.files(launch.id);
    const words = openSync(join(files.folder, 'supervisor.log'), 'a');
    const child = spawn(process.execPath, supervisorArgs(programs, files.folder, launch.start), {
      detached: true,
      env: { PATH: process.env['PATH'] ?? '', ...this.env },
      stdio: ['ignore', words, words],
    });
    closeSync(words);
    this.#supervisors.push(child);
    this.#ids.add(launch.id);
    return new Supervised(this, launch, child);
  }

  /** The pids of the agent's processes. */
  alive(): number[] {
    return findAlive({ leader: -1, mark: `BATON_AGENT_ID=${this.agentId}` });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#supervisors) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    for (const id of this.#ids) {
      for (const pid of findAlive({ leader: -1, mark: `BATON_AGENT_ID=${id}` })) killIfThere(pid);
    }
    await this.daemon.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The supervisor has exited.
  }
}

/** Bundled once for all tests. */
export const PROGRAMS = join(import.meta.dirname, '../../node_modules/.cache/baton');
export const TOKEN = 'a.agent-token';
export const SUPERVISOR_TOKEN = 'v.supervisor-token';

const LAUNCH: Omit<Launch, 'id' | 'cwd' | 'state_dir'> = {
  v: 1,
  kind: 'agent',
  start: 1,
  argv: ['/bin/sh', '-c', 'cat'],
  env: {},
  output: 'text',
  input: 'text',
  prompt: null,
  timeout_ms: null,
  kill_after_ms: 10_000,
  idle_ms: null,
  renew_ms: null,
  log_bytes: 1024 * 1024,
  finds_exit_signals: true,
  token: SUPERVISOR_TOKEN,
  agent_token: TOKEN,
  owes: [],
};

export function launchIn({ agentId, cwd, stateDir }: Scene): Launch {
  return { ...LAUNCH, id: agentId, cwd, state_dir: stateDir };
}

export class Supervised {
  readonly #scene: Scene;
  readonly launch: Launch;
  readonly child: ChildProcess;

  constructor(scene: Scene, launch: Launch, child: ChildProcess) {
    this.#scene = scene;
    this.launch = launch;
    this.child = child;
  }

  get files() {
    return this.#scene.files(this.launch.id);
  }

  async running(): Promise<Running> {
    const path = this.files.running(this.launch.start);
    return until('the process runs', () => readJson(path) as Running | undefined); // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  async pid(): Promise<number> {
    return Number((await this.running()).process.split('/')[1]);
  }

  /** Waits for the supervisor's exit, and returns the recorded exit of the process. */
  async exit(): Promise<Exit> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
    const exit = readJson(this.files.exit(this.launch.start)) as Exit | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (exit === undefined) throw new Error(`no exit was written: ${this.words()}`);
    return exit;
  }

  words(): string {
    const path = join(this.files.folder, 'supervisor.log');
    return existsSync(path) ? readFileSync(path, 'utf8') : '';
  }

  async post(path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const { port } = await this.running();
    return fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  }

  async call(operation: string, input: object): Promise<Record<string, unknown>> {
    return { ...Object(await (await this.post(`/v1/${operation}`, input)).json()) };
  }

  /** The stop hook's block reason; null if the agent may stop. */
  async stop(input: unknown = { stop_hook_active: false }): Promise<string | null> {
    const answer: unknown = await (await this.post('/hook/stop', input)).json();
    return typeof answer === 'object' && answer !== null && 'reason' in answer ? String(answer.reason) : null;
  }

  async control(control: Control): Promise<Record<string, unknown>> {
    const response = await this.post('/control', control, { authorization: `Bearer ${SUPERVISOR_TOKEN}` });
    return { ...Object(await response.json()) };
  }
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
