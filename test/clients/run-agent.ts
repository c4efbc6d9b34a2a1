import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Adapter, LaunchParts } from '../../src/agents/adapter.ts';
import { readUserSetup } from '../../src/agents/user-setup.ts';
import type { AgentPlan } from '../../src/protocol/run-plan.ts';
import { agentFiles } from '../../src/supervisor/contract.ts';
import type { ClientStream } from '../../src/streams/client-stream.ts';
import type { StreamEvent } from '../../src/streams/stream-event.ts';
import type { World } from './world.ts';

/** A client under test. */
export interface ClientUnderTest {
  readonly adapter: Adapter;
  readonly run: string;
  readonly reader: ClientStream;
  /** Dummy keys and the model's address, as in a user's shell. */
  readonly env: (world: World) => Readonly<Record<string, string>>;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly lines: readonly string[];
  readonly said: readonly StreamEvent[];
  /** Events that only the end of the process showed. */
  readonly saidAtEnd: readonly StreamEvent[];
  readonly stderr: string;
}

interface Talk {
  readonly tell: (text: string) => void;
  readonly hangUp: () => void;
  readonly kill: () => void;
}

export interface RunOptions {
  readonly prompt: string;
  readonly resume?: string;
  readonly plan?: Partial<AgentPlan>;
  readonly env?: Readonly<Record<string, string>>;
  /** Called with every event; by default, ends the input when the turn has ended. */
  readonly onSaid?: (said: StreamEvent, talk: Talk) => void;
}

/** Runs the real client once, as a supervisor would, with an environment built from nothing. */
export async function runAgent(client: ClientUnderTest, world: World, options: RunOptions): Promise<Ended> {
  const env = environment(client, world, options);
  const launch = prepare(client, world, options, env);
  writeFiles(launch, world.door.url);
  const [program, ...args] = launch.argv.map((word) => fill(word, world.door.url));
  const given = Object.entries({ ...env, ...launch.env }).filter(([, value]) => value !== '');
  const child = spawn(program ?? '', args, { cwd: world.project, env: Object.fromEntries(given), detached: true });
  const killAll = () => kill(-(child.pid ?? 0));
  const timer = setTimeout(killAll, DEADLINE_MS);
  const lines: string[] = [];
  const said: StreamEvent[] = [];
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  child.stdin.on('error', () => {});
  const tell = (text: string) => {
    child.stdin.write(launch.input === 'stream-json' ? `${userMessage(text)}\n` : text);
  };
  const talk: Talk = { tell, hangUp: () => child.stdin.end(), kill: killAll };
  const onSaid = options.onSaid ?? ((each) => void (each.kind === 'turn-ended' && talk.hangUp()));
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    for (const each of client.reader.readLine(line, Date.now())) {
      said.push(each);
      onSaid(each, talk);
    }
  });
  tell(launch.prompt ?? '');
  if (launch.input === 'once') child.stdin.end();
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('close', (...end) => resolve(end));
  });
  clearTimeout(timer);
  // Ends everything that the client left in its process group.
  killAll();
  const conversation = said.findLast((each) => each.kind === 'conversation')?.id ?? null;
  const error = said.findLast((each) => each.kind === 'error')?.message ?? null;
  const saidAtEnd = client.reader.readEnd({
    code,
    at: Date.now(),
    conversation,
    error,
    folder: client.reader.recordsIn(env),
  });
  return { code, signal, lines, said, saidAtEnd, stderr };
}

const DEADLINE_MS = 60_000;
/** Baton's own driver, from the source. */
const ACP_DRIVER = join(import.meta.dirname, '../../src/agents/acp/driver/main.ts');
const STOP_HOOK = join(import.meta.dirname, '../../src/supervisor/stop-hook/main.ts');
/** `npm run test:clients` installs the clients and sets the variable. */
export const CLIENTS = process.env['BATON_TEST_CLIENTS'] ?? join(import.meta.dirname, '../../.cache/clients/bin');

/** The variables of a user's shell and those that a supervisor adds, built from nothing. */
export function environment(
  { env }: ClientUnderTest,
  world: World,
  options: RunOptions,
): Readonly<Record<string, string>> {
  return {
    HOME: world.home,
    PATH: `${CLIENTS}:/usr/bin:/bin`,
    TMPDIR: world.temporary,
    BATON_URL: world.door.url,
    BATON_TOKEN: 'token-of-the-agent',
    BATON_AGENT_ID: world.agentId,
    BATON_STATE_DIR: world.stateDir,
    ...env(world),
    ...options.env,
  };
}

/** The client's launch, as a daemon would write it. */
export function prepare(
  { adapter, run }: ClientUnderTest,
  { agentId, stateDir, project }: World,
  { prompt, resume, plan }: RunOptions,
  env: Readonly<Record<string, string>>,
): LaunchParts {
  const user = readUserSetup(run, env);
  const programs = {
    supervisor: '',
    scripted: '',
    builtin: '/builtin.cjs',
    acpDriver: ACP_DRIVER,
    networkHelper: '',
    shellForward: '',
    baton: '',
    stopHook: STOP_HOOK,
  };
  const context = {
    agentId,
    start: resume === undefined ? 1 : 2,
    prompt,
    isResume: resume !== undefined,
    conversation: resume ?? null,
    stateDir,
    cwd: project,
    projectDir: project,
    programs,
    ...(user !== undefined && { user }),
  };
  const prepared = adapter.prepare({ name: 'agent', run, ...plan }, context, agentFiles(stateDir, agentId));
  if (!prepared.ok) throw new Error(prepared.reason);
  return prepared.launch;
}

function writeFiles({ files }: LaunchParts, url: string): void {
  for (const { path, content, link, mode = 0o600 } of files) {
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { force: true });
    if (link === undefined) writeFileSync(path, fill(content, url), { mode });
    else symlinkSync(link, path);
  }
}

function fill(text: string, url: string): string {
  return text.replaceAll('${BATON_URL}', url);
}

function userMessage(text: string): string {
  return JSON.stringify({ type: 'user', message: { role: 'user', content: text } });
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has exited.
  }
}
