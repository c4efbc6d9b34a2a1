import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { agentFiles, type Launch, type Running } from '../src/supervisor/contract.ts';
import { findPrograms, supervisorArgs, type Programs } from '../src/supervisor/programs.ts';
import { until } from '../test/processes/until.ts';
import { measureOnRecord } from './hooks-on-record.ts';
import { atMost, median, type Benchmark } from './measure.ts';

const ID = 'bench';
const TOKEN = 'a.bench';
const STOPS = 500;
const COMMANDS = 40;
const HOOKS = 20;

const INPUT = JSON.stringify({
  session_id: 'a2c1',
  transcript_path: '/tmp/a2c1.jsonl',
  cwd: '/tmp',
  hook_event_name: 'Stop',
  stop_hook_active: false,
  last_assistant_message: 'All tests pass, the branch is pushed.',
});

/** The time of a stop hook, and the cost of a supervisor while its agent works. */
export const hooks: Benchmark = {
  name: 'hooks',
  async run() {
    const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
    try {
      const programs = await findPrograms(folder);
      const memory = await withSupervisor(folder, 'memory', programs, measureMemory);
      const speed = await withSupervisor(folder, 'speed', programs, async ({ port }) => ({
        http: await measureHttp(port),
        command: measureCommand(programs, { BATON_STATE_DIR: folder, BATON_URL: `http://127.0.0.1:${port}` }),
      }));
      const { http, command } = speed;
      const onRecord = await measureOnRecord();
      return [
        atMost(2, {
          name: 'stop hook over HTTP',
          value: http.stop,
          unit: 'ms',
          against: 'an empty request',
          limit: http.empty,
        }),
        atMost(1, {
          name: 'stop hook over HTTP that is on record',
          value: onRecord.stop,
          unit: 'ms',
          against: 'two empty requests and one durable call',
          limit: 2 * onRecord.empty + onRecord.commit,
        }),
        atMost(1.3, {
          name: 'stop hook as a command',
          value: command.hook,
          unit: 'ms',
          against: 'node -e 0',
          limit: command.bare,
        }),
        atMost(1.3, {
          name: 'supervisor, idle',
          value: memory.idle,
          unit: 'MB',
          against: 'a bare node',
          limit: memory.bare,
        }),
        atMost(1.3, {
          name: `supervisor, after ${HOOKS} hooks`,
          value: memory.after,
          unit: 'MB',
          against: 'a bare node',
          limit: memory.bare,
        }),
      ];
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

interface Supervisor {
  readonly pid: number;
  readonly port: number;
}

/** Runs a supervisor with an idle agent while the work takes place. */
async function withSupervisor<T>(
  stateDir: string,
  name: string,
  programs: Programs,
  work: (supervisor: Supervisor) => Promise<T>,
): Promise<T> {
  const id = `${ID}-${name}`;
  const files = agentFiles(stateDir, id);
  mkdirSync(files.folder, { recursive: true });
  writeFileSync(files.config, JSON.stringify({ on_stop: 'signal', start: 1, max_blocks: 1_000_000 }));
  writeFileSync(files.launch(1), JSON.stringify(launchOf(id, stateDir)));
  const child = spawn(process.execPath, supervisorArgs(programs, files.folder, 1), { stdio: 'ignore' });
  const ended = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  try {
    const { port } = await until('the supervisor listens', () => readRunning(files.running(1)));
    return await work({ pid: child.pid ?? 0, port });
  } finally {
    child.kill('SIGTERM');
    await ended;
  }
}

async function measureMemory({ pid, port }: Supervisor) {
  const bareNode = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e9)'], { stdio: 'ignore' });
  try {
    const idle = await settledMb(pid);
    const bare = await settledMb(bareNode.pid ?? 0);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let i = 0; i < HOOKS; i++) await post(agent, port, '/hook/stop', INPUT);
    agent.destroy();
    return { bare, idle, after: memoryMb(pid) };
  } finally {
    bareNode.kill('SIGKILL');
  }
}

async function measureHttp(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const empty: number[] = [];
  const stop: number[] = [];
  for (let i = 0; i < STOPS; i++) {
    empty.push(await timed(async () => post(agent, port, '/hook/nothing', '')));
    stop.push(await timed(async () => post(agent, port, '/hook/stop', INPUT)));
  }
  agent.destroy();
  return { empty: median(empty), stop: median(stop) };
}

function measureCommand({ stopHook }: Programs, given: Record<string, string>) {
  const id = `${ID}-speed`;
  const env = { PATH: process.env['PATH'], ...given, BATON_AGENT_ID: id, BATON_TOKEN: TOKEN };
  const bare: number[] = [];
  const hook: number[] = [];
  for (let i = 0; i < COMMANDS; i++) {
    const before = performance.now();
    spawnSync(process.execPath, ['-e', '0'], { env, input: INPUT });
    const between = performance.now();
    const { stdout } = spawnSync(process.execPath, [stopHook, id], { env, input: INPUT, encoding: 'utf8' });
    hook.push(performance.now() - between);
    bare.push(between - before);
    if (!stdout.startsWith('{"decision":"block"')) throw new Error(`the hook said: ${stdout}`);
  }
  return { bare: median(bare), hook: median(hook) };
}

async function post(agent: Agent, port: number, path: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-length': Buffer.byteLength(body) };
    const sent = request({ agent, host: '127.0.0.1', port, method: 'POST', path, headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`status ${response.statusCode}`));
      response.resume().once('end', resolve);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

async function timed(work: () => Promise<void>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

/** The memory of a new process, once two readings agree, since it grows at first. */
async function settledMb(pid: number): Promise<number> {
  let last = 0;
  return until('its memory has settled', async () => {
    await new Promise((resolve) => {
      setTimeout(resolve, 300);
    });
    const now = memoryMb(pid);
    const isSettled = Math.abs(now - last) < 0.1;
    last = now;
    return isSettled && now;
  });
}

function memoryMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

function readRunning(path: string): Running | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Running; // oxlint-disable-line typescript/no-unsafe-type-assertion
  } catch {
    return undefined;
  }
}

function launchOf(id: string, stateDir: string): Launch {
  return {
    v: 1,
    kind: 'agent',
    id,
    start: 1,
    argv: ['/bin/sh', '-c', 'exec cat'],
    cwd: stateDir,
    env: {},
    output: 'text',
    input: 'text',
    prompt: null,
    timeout_ms: null,
    kill_after_ms: 1000,
    idle_ms: null,
    renew_ms: null,
    log_bytes: 1_000_000,
    finds_exit_signals: true,
    token: 'v.bench',
    agent_token: TOKEN,
    owes: [],
    state_dir: stateDir,
  };
}
