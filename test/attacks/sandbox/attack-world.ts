import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { readDaemonRecord, stateFiles } from '../../../src/api/state-folder.ts';
import { listLiving, readProcFile } from '../../../src/api/processes.ts';
import { fieldOf } from '../../../src/protocol/shape/read-unknown.ts';
import { readLedger, textOf } from '../../processes/ledger.ts';
import { RunWorld } from '../../processes/run-world.ts';

/** Must never occur in a file that an agent can read, nor in its environment. */
const SECRET = `sk-ant-${'s3cr3t'.repeat(5)}`;

export interface AttackWorldOptions {
  /** The sandbox mode. */
  readonly mode: string;
  /** Agents by the id of their task, as in a runbook. */
  readonly agents: Readonly<Record<string, string>>;
  /** Further lines of the runbook. */
  readonly runbook?: string;
  readonly files?: Readonly<Record<string, string>>;
}

/**
 * A world with targets for attacks: a home with keys and clients' settings, another worktree, another program's port,
 * an injected secret. An agent that runs `claude` runs `attempts.mjs`, or the command in its variable ATTACK.
 */
export class AttackWorld implements AsyncDisposable {
  readonly run: RunWorld;
  readonly main: string;
  readonly otherWorktree: string;
  readonly secret: string = SECRET;
  /** Requests that were sent to another agent's port. */
  readonly received: string[] = [];
  /** Requests that reached the API with the injected secret. */
  readonly authorized: string[];
  #before: ReadonlyMap<string, string>;
  readonly #objects: ReadonlyMap<string, string>;
  readonly #bin: string;
  readonly #other: Server;
  readonly #api: Server;

  private constructor(run: RunWorld, bin: string, other: Server, { server, authorized }: Api) {
    this.run = run;
    this.authorized = authorized;
    this.#bin = bin;
    this.#other = other;
    this.#api = server;
    other.on('connection', (socket) => {
      socket.on('error', () => {});
      socket.on('data', (data) => {
        this.received.push(data.toString('latin1'));
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nother\n');
      });
    });
    const { world, repository } = run;
    this.otherWorktree = join(repository, '.worktrees/other');
    world.write(repository, { '.git/info/exclude': '/.worktrees/\n/.baton/session/\n' });
    world.git(world.folder, 'clone', '--quiet', '--bare', repository, 'origin.git');
    world.git(repository, 'remote', 'add', 'origin', join(world.folder, 'origin.git'));
    world.git(repository, 'fetch', '--quiet');
    world.git(repository, 'worktree', 'add', '--quiet', '-b', 'other', this.otherWorktree);
    world.commit(this.otherWorktree, { 'other.txt': 'of another task\n' }, 'other');
    world.write(run.world.folder, HOME);
    this.main = world.commit(repository, { ...PROGRAMS, 'facts.json': JSON.stringify(this.#facts()) }, 'facts');
    this.#before = this.#look();
    this.#objects = this.#readObjects();
  }

  static async open({ mode, agents, runbook = '', files = {} }: AttackWorldOptions): Promise<AttackWorld> {
    // Outside the tests' temporary folder, which may be in /dev, where a session has its own files.
    const bin = mkdtempSync('/tmp/baton-attack-');
    writeFileSync(join(bin, 'claude'), '#!/bin/sh\nexec ${ATTACK:-node attempts.mjs}\n', { mode: 0o755 });
    const [other, api] = [createServer(), createApi()];
    for (const server of [other, api.server])
      await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const run = await RunWorld.open({
      runbook: [render(mode, agents), runbook].join('\n'),
      env: {
        PATH: `${bin}:${process.env['PATH']}`,
        ATTACKED_KEY: SECRET,
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${portOf(api.server)}`,
      },
      scripts: files,
    });
    return new AttackWorld(run, bin, other, api);
  }

  #facts(): object {
    const { world, repository } = this.run;
    const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    return {
      repository,
      otherWorktree: this.otherWorktree,
      stateDir: world.stateDir,
      home: world.folder,
      daemonPid: world.daemonPid,
      main: world.git(repository, 'rev-parse', 'main'),
      ports: { daemon: readDaemonRecord(world.stateDir)?.port, other: portOf(this.#other) },
      addresses: own.filter(({ internal }) => !internal).map(({ address }) => address),
      reversedSecret: SECRET.split('').toReversed().join(''),
    };
  }

  /** Records the current state, so that the test's own changes do not count as an attack. */
  lookAgain(): void {
    this.#before = this.#look();
  }

  /** Starts the agent of a task and returns its id. */
  async start(taskId: string): Promise<string> {
    await this.run.ask('task_create', { task_id: taskId, title: taskId });
    return this.run.until(`${taskId} has an agent`, async () => (await this.agentsOf(taskId))[0]);
  }

  /** The ids of all agents that were started for a task, in order. */
  async agentsOf(taskId: string): Promise<readonly string[]> {
    const requests = (await readLedger(this.run.world)).filter(({ type }) => type === 'AgentRequested');
    return requests.flatMap(({ data }) =>
      fieldOf(data['task'], 'task_id') === taskId ? [textOf(data, 'agent_id')] : [],
    );
  }

  worktreeOf(taskId: string): string {
    const folder = join(this.run.repository, '.worktrees');
    return join(folder, readdirSync(folder).find((name) => name.startsWith(taskId.toLowerCase())) ?? taskId);
  }

  /** The secrets of this machine, by name. */
  secrets(): Record<string, string> {
    const { operatorToken, workerToken, sessionSecret, signingKey } = stateFiles(this.run.world.stateDir);
    const read = (path: string): string => readFileSync(path, 'utf8').trim();
    return {
      'operator token': read(operatorToken),
      'worker token': read(workerToken),
      'session secret': read(sessionSecret),
      'signing key': read(signingKey).split('\n')[1] ?? '',
      'injected secret': SECRET,
      'private key': PRIVATE_KEY,
    };
  }

  /** The user's files that were changed, created or deleted by the attack. */
  changes(): string[] {
    const after = this.#look();
    const names = new Set([...this.#before.keys(), ...after.keys()]);
    return [...names].filter((name) => after.get(name) !== this.#before.get(name));
  }

  /** The user's object files that were changed or removed, and git's errors about any. */
  damagedObjects(): string[] {
    const after = this.#readObjects();
    const changed = [...this.#objects].filter(([path, digest]) => after.get(path) !== digest).map(([path]) => path);
    const { code, said } = this.run.world.tryGit(this.run.repository, 'fsck', '--full', '--strict');
    return code === 0 ? changed : [...changed, said];
  }

  #readObjects(): Map<string, string> {
    const found = new Map<string, string>();
    walk(join(this.run.repository, '.git/objects'), found, []);
    return new Map([...found].filter(([, digest]) => digest !== 'folder'));
  }

  /**
   * A snapshot of the user's files that no session may change. New objects and the branches of tasks are excluded,
   * because Baton makes them.
   */
  #look(): Map<string, string> {
    const { world, repository } = this.run;
    const found = new Map<string, string>();
    const skipped = [world.stateDir, join(repository, '.git'), join(world.folder, 'daemon.out')];
    const own = readdirSync(join(repository, '.worktrees')).filter((name) => name !== 'other');
    const worktrees = own.map((name) => join(repository, '.worktrees', name));
    walk(world.folder, found, [...skipped, ...worktrees]);
    // Ignores the setting that Baton adds for separate configurations of worktrees.
    const settings = world.git(repository, 'config', '--local', '--list').split('\n');
    found.set(
      'settings',
      settings
        .filter((line) => !OWN_SETTINGS.test(line))
        .toSorted()
        .join('\n'),
    );
    for (const name of ['hooks', 'info/attributes', 'HEAD', 'packed-refs', 'refs/replace', 'refs/heads/main'])
      walk(join(repository, '.git', name), found, []);
    for (const name of ['refs/heads/main', 'refs/heads/other', 'refs/replace/*'])
      found.set(name, world.git(repository, 'for-each-ref', name));
    return found;
  }

  /** Processes whose command line or environment names this world, except Baton's own. */
  leftProcesses(): string[] {
    return listLiving()
      .map(({ pid }) => readProcFile(pid, 'cmdline').replaceAll('\0', ' '))
      .filter((line) => line.includes(`${this.run.repository}/.worktrees`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of [this.#other, this.#api]) server.close();
    await this.run[Symbol.asyncDispose]();
    rmSync(this.#bin, { recursive: true, force: true });
  }
}

function render(mode: string, agents: Readonly<Record<string, string>>): string {
  const lines = Object.entries(agents).map(
    ([task, agent]) =>
      `[agents.on_${task}]\n${agent}\non_dead = "fail"\n[workers.w_${task}]\ntasks = ["${task}"]\nrun = { agent = "on_${task}" }\n`,
  );
  const confined = [
    `sandbox = { mode = "${mode}", processes = 100, disk = "64MB", memory = "1GB" }`,
    'secrets.ANTHROPIC_API_KEY = { env = "ATTACKED_KEY", inject = "header" }',
  ].join('\n');
  return `
limits = { kill_after = "300ms", leave = "1s" }
${mode === 'none' ? 'sandbox = "none"' : confined}
${lines.join('')}
[pipelines.hacked]
steps = [{ name = "step", run = "touch hacked" }]
`;
}

const PRIVATE_KEY = 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAAB';

const HOME = {
  '.ssh/id_ed25519': `-----BEGIN OPENSSH PRIVATE KEY-----\n${PRIVATE_KEY}\n`,
  '.claude/settings.json': '{"model":"opus"}\n',
  '.claude/.credentials.json': '{"claudeAiOauth":{"accessToken":"login"}}\n',
  '.claude.json': '{"hasCompletedOnboarding":true}\n',
  '.codex/config.toml': 'model = "gpt"\n',
  '.codex/auth.json': '{"tokens":{}}\n',
  '.gemini/settings.json': '{"theme":"dark"}\n',
  '.bashrc': 'export EDITOR=vi\n',
  '.gitconfig': '[user]\n\tname = Ada\n',
};

const PROGRAMS = Object.fromEntries(
  ['attempts.mjs', 'spend.mjs', 'survive.sh', 'fill-disk.sh'].map((name) => [
    name,
    readFileSync(join(import.meta.dirname, name), 'utf8'),
  ]),
);

const OWN_SETTINGS = /^(?:extensions\.worktreeconfig=true|core\.repositoryformatversion=\d)$/;

interface Api {
  readonly server: Server;
  readonly authorized: string[];
}

/** What each question of an agent costs: 110 tokens. */
const ANSWER = JSON.stringify({ type: 'message', model: 'm-1', usage: { input_tokens: 100, output_tokens: 10 } });

/** A server that, like some web servers, answers TRACE with the request's headers, which contain the secret. */
function createApi(): Api {
  const authorized: string[] = [];
  const server = createHttpServer(({ method = '', url, headers }, response) => {
    if (headers['x-api-key'] === SECRET) authorized.push(`${method} ${url}`);
    response.end(method === 'TRACE' ? JSON.stringify(headers) : method === 'POST' ? ANSWER : '{}');
  });
  return { server, authorized };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function walk(path: string, found: Map<string, string>, skipped: readonly string[]): void {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined || skipped.includes(path)) return;
  if (stat.isSymbolicLink()) found.set(path, `link to ${readlinkSync(path)}`);
  else if (stat.isDirectory()) {
    found.set(path, 'folder');
    for (const name of readdirSync(path)) walk(join(path, name), found, skipped);
  } else
    found.set(
      path,
      `${stat.mode} ${stat.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'other'}`,
    );
}
