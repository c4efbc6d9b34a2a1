import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { separateShell } from '../../effects/sandbox/separate-shell.ts';
import type { NetworkSpec, SandboxSpec } from '../../protocol/sandbox.ts';
import type { Launch } from '../../supervisor/contract.ts';
import type { Programs } from '../../supervisor/programs.ts';
import { makeScene, TEST_LIMITS } from '../bubblewrap/session.cases.ts';
import { readMachine } from '../machine.ts';
import { type OpenSandbox, openSandbox } from '../open-sandbox.ts';
import { planCaches } from '../plan/caches.ts';
import { findPrograms } from '../plan/home-rules.ts';
import { planMounts } from '../plan/plan-mounts.ts';
import { probeBubblewrap } from '../probe.ts';
import { writeCopies } from '../write-copies.ts';

export const TOKEN = 'baton_s_the-token-of-the-reviewer';
export const KEY = 'sk-the-key-of-the-client';
const SOURCE = join(import.meta.dirname, '..', '..');

/** A judging session in both of its sandboxes: its client runs JavaScript, which runs shells as a client does. */
export class JudgeScene implements AsyncDisposable {
  readonly #root: string;
  readonly worktree: string;
  readonly #spec: SandboxSpec;
  readonly #box: OpenSandbox;
  readonly #env: Readonly<Record<string, string>>;
  readonly #clients = new Set<ChildProcess>();

  private constructor(
    root: string,
    spec: SandboxSpec,
    box: OpenSandbox,
    worktree: string,
    env: Readonly<Record<string, string>>,
  ) {
    this.#root = root;
    this.#spec = spec;
    this.#box = box;
    this.worktree = worktree;
    this.#env = env;
  }

  /** The folder is removed with the scene. A program that a test kills gets the test's own folder. */
  static async open(
    root: string = mkdtempSync(join(tmpdir(), 'baton judge-')),
    network: Partial<NetworkSpec> = {},
  ): Promise<JudgeScene> {
    makeScene(root);
    const { launch, worktree, folder, env } = await planScene(root, network);
    const { sandbox: spec, files = [] } = launch;
    if (spec?.shell === undefined) throw new Error(`not separated: ${spec?.notes.join(' ')}`);
    for (const { path, content, mode = 0o600 } of files) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
      chmodSync(path, mode);
    }
    const opened = await openSandbox({
      spec,
      id: `test-${process.pid}`,
      stateDir: join(root, 'home/.local/state/baton'),
      folder,
      onRequest: (_, response) => void response.end('the supervisor'),
      secrets: {},
      tokens: [TOKEN],
      helper: join(SOURCE, 'sandbox/network/namespace/helper/main.ts'),
      forbiddenPorts: [],
      onNote: () => {},
      env: process.env,
    });
    if (!opened.ok) throw new Error(opened.reason);
    return new JudgeScene(root, spec, opened.sandbox, worktree, env);
  }

  /** Starts the client. In its code, `sh` is a function that runs a command line in a shell. */
  start(code: string, env: Readonly<Record<string, string>> = {}): ChildProcess {
    const own = { ...this.#env, BATON_URL: this.#box.url ?? '', BATON_TOKEN: TOKEN, ANTHROPIC_API_KEY: KEY, ...env };
    const command = this.#box.command([process.execPath, '-e', `${CLIENT}\n${code}`], this.worktree, own);
    if (!command.ok) throw new Error(command.reason);
    const [program = '', ...args] = command.argv;
    const child = spawn(program, args, { cwd: '/', env: command.env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#clients.add(child);
    return child;
  }

  /** Runs the client to its end, and returns what it printed. */
  async run(code: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    const child = this.start(code, env);
    child.stdin?.end();
    if (child.stdout === null || child.stderr === null) throw new Error('no pipes');
    const [printed, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    return `${printed}${errors}`;
  }

  /** What one command line prints, in its second sandbox. */
  async shell(line: string): Promise<string> {
    return this.run(`show(sh(${JSON.stringify(line)}))`);
  }

  get spec(): SandboxSpec {
    return this.#spec;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const child of this.#clients) child.kill('SIGKILL');
    await this.#box.close();
    rmSync(this.#root, { recursive: true });
  }
}

const CLIENT = `
const { spawn, spawnSync } = require('node:child_process');
const sh = (line, options = {}) => spawnSync('/bin/sh', ['-c', line], { maxBuffer: 1e9, ...options });
const show = ({ stdout, stderr }) => process.stdout.write(String(stdout) + String(stderr));
`;

async function planScene(root: string, network: Partial<NetworkSpec>) {
  const bwrap = await probeBubblewrap();
  if (!bwrap.works) throw new Error(bwrap.reason);
  const [home, repository] = [join(root, 'home'), join(root, 'home/app')];
  const stateDir = join(home, '.local/state/baton');
  const [runFolder, cache, worktree] = [
    join(stateDir, 'agents/1'),
    join(stateDir, 'caches/app'),
    join(repository, '.worktrees/W-1'),
  ];
  const own = join(runFolder, 'sandbox');
  const [privateHome, tmp, bin, client] = [
    join(own, 'home'),
    join(own, 'tmp'),
    join(runFolder, 'bin'),
    join(own, 'client-0'),
  ];
  for (const each of [privateHome, tmp, bin, client]) mkdirSync(each, { recursive: true });
  writeFileSync(join(client, 'mcp.json'), JSON.stringify({ headers: { Authorization: `Bearer ${TOKEN}` } }));
  writeFileSync(join(client, 'login.json'), KEY);
  // A transcript has the results of the client's own commands.
  writeFileSync(join(client, 'conversation.jsonl'), `{"type":"tool_result","content":"BATON_TOKEN=${TOKEN}"}\n`);
  mkdirSync(join(worktree, '.client'), { recursive: true });
  writeFileSync(join(worktree, '.client/settings.json'), 'a server of the branch');
  writeFileSync(join(worktree, '.env'), 'NODE_OPTIONS=--require=./evil.cjs');
  const environment = { HOME: home, PATH: `${home}/.nvm/bin:/usr/bin:/bin` };
  const machine = readMachine(environment);
  const planned = planMounts(
    machine,
    {
      home: privateHome,
      tmp,
      worktree,
      sessionFolder: '.baton/session',
      stateDir,
      repository,
      worktrees: join(repository, '.worktrees'),
      commonDir: join(repository, '.git'),
      files: [],
      linked: [],
      programs: [...findPrograms(machine, [process.execPath], [stateDir, repository]), SOURCE],
      cache: { at: cache, from: cache },
      mounts: [
        { kind: 'write', at: join(home, '.client'), from: client },
        { kind: 'read', at: bin, from: bin },
      ],
    },
    {},
  );
  if (!planned.ok) throw new Error(planned.problem.message);
  const caches = planCaches(machine, cache);
  writeCopies([...planned.value.copies, ...caches.copies]);
  const sandbox: SandboxSpec = {
    ...planned.value,
    kind: 'bubblewrap',
    layers: [],
    nested: false,
    limits: { ...TEST_LIMITS, processes: 200, memory_bytes: 1024 ** 3, disk_bytes: 1024 ** 3 },
    network: { policy: 'none', hosts: [], local: [], port: null, inject: [], ...network },
    env: { ...planned.value.env, ...caches.env },
    git: null,
    credentials: [],
    temporary: [tmp],
    measured: [],
    shared: [],
    bwrap,
    container: null,
    user: null,
    notes: [],
  };
  const launch: Launch = {
    ...LAUNCH,
    cwd: worktree,
    state_dir: stateDir,
    judge: { stream: true, shell: false, unseparated: 'ask' },
    sandbox,
  };
  const programs = { shellForward: join(import.meta.dirname, 'forward/main.ts') };
  const session = { run: 'claude', runFolder, bin, env: environment, program: process.execPath, worktree };
  const separated = separateShell(
    launch,
    {
      ...session,
      commands: ['printf %s "$BATON_TOKEN"'],
      variables: ['ANTHROPIC_*', 'CLAUDE_*'],
      projectSettings: ['.client', '.env'],
    },
    programs as Programs, // oxlint-disable-line typescript/no-unsafe-type-assertion
  );
  return { launch: separated, worktree, folder: join(own, 'start-1'), env: { ...environment, ...separated.env } };
}

const LAUNCH: Launch = {
  v: 1,
  kind: 'agent',
  id: '1',
  start: 1,
  argv: ['node'],
  cwd: '/',
  env: {},
  output: 'text',
  input: 'none',
  prompt: null,
  timeout_ms: null,
  kill_after_ms: 0,
  idle_ms: null,
  renew_ms: null,
  log_bytes: 0,
  finds_exit_signals: false,
  token: 'baton_a_supervisor',
  agent_token: TOKEN,
  owes: [],
  state_dir: '/',
};

// Runs as a program, which a test can kill in place of a supervisor.
const [, program, folder, code] = process.argv;
if (program === import.meta.filename && folder !== undefined && code !== undefined)
  (await JudgeScene.open(folder)).start(code);
