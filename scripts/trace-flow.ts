import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { until } from '../test/processes/until.ts';
import { checkOutCommit } from './checkout-commit.ts';

/**
 * `node scripts/trace-flow.ts [--base COMMIT] [--root DIR] [--flow stop|exit|issue] [--files] [--json]`: lists the
 * daemon's product files that run between the two ends of a flow, counted with the inspector's precise coverage in a
 * real daemon that runs from source. A file counts if one of its functions was called; loading a module is not enough.
 * With a base, also traces the flows on that commit, and prints the ratios.
 */
const MAX_RATIO = 0.5;
/** Longer than a flow, so that the daemon's timer does not fire within it. */
const NEVER = '1000000000';
const PROBE = join(import.meta.dirname, 'trace-flow-probe.ts');

/**
 * The part of `test/processes/world.ts` that is used here. The script imports it from the traced checkout, so that it
 * names no file of src.
 */
interface World extends AsyncDisposable {
  readonly folder: string;
  readonly repository: string;
  readonly stateDir: string;
  readonly startDaemon: (options: { readonly imports: readonly string[] }) => Promise<void>;
  readonly tellDaemon: (message: string) => void;
  readonly endDaemon: () => Promise<void>;
  readonly commit: (folder: string, files: Readonly<Record<string, string>>, message: string) => string;
  readonly order: (operation: string, input: unknown) => Promise<Record<string, unknown>>;
  readonly client: (token: string) => {
    readonly call: (operation: string, input: unknown) => Promise<{ readonly ok: boolean }>;
  };
}

interface Entry {
  readonly type: string;
}

interface Checkout {
  readonly root: string;
  readonly open: (settings: Readonly<Record<string, string>>) => World;
  readonly readLedger: (world: World) => Promise<readonly Entry[]>;
}

interface Trace {
  readonly files: readonly string[];
  readonly functions: number;
  readonly calls: number;
}

/** Prepares a flow, and runs it inside `measure`. */
type Flow = (checkout: Checkout) => Promise<Trace>;

const FLOWS: Readonly<Record<string, Flow>> = { stop: traceStop, exit: traceExit, issue: traceIssue };
const TITLES: Readonly<Record<string, string>> = {
  stop: 'stop hook over HTTP, on_stop = escalate',
  exit: 'exit signal to phase and claim in one commit',
  issue: 'request to merge, a whole issue',
};

const { values: options } = parseArgs({
  options: {
    base: { type: 'string' },
    root: { type: 'string', default: join(import.meta.dirname, '..') },
    flow: { type: 'string', multiple: true, default: Object.keys(FLOWS) },
    files: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const unknown = options.flow.filter((name) => !Object.hasOwn(FLOWS, name));
if (unknown.length > 0) {
  console.error(`Error: no such flow: ${unknown.join(', ')}. There are: ${Object.keys(FLOWS).join(', ')}`);
  process.exit(2);
}

const now = await traceAll(options.root);
if (options.base === undefined) report(now);
else {
  using checkout = checkOutCommit(options.base);
  report(now, await traceAll(checkout.path));
}

function report(traces: ReadonlyMap<string, Trace>, base?: ReadonlyMap<string, Trace>): void {
  if (options.json) {
    console.log(JSON.stringify({ now: Object.fromEntries(traces), base: base && Object.fromEntries(base) }, null, 2));
    return;
  }
  for (const [name, trace] of traces) {
    console.log(`${TITLES[name]}: ${describe(trace)}`);
    const before = base?.get(name);
    if (before !== undefined) {
      const ratio = trace.files.length / before.files.length;
      console.log(`  ${options.base}: ${describe(before)}; files ratio ${ratio.toFixed(2)} (limit ${MAX_RATIO})`);
      if (ratio > MAX_RATIO) process.exitCode = 1;
    }
    if (options.files) for (const file of trace.files) console.log(`  ${file}`);
  }
}

function describe({ files, functions, calls }: Trace): string {
  return `${files.length} files, ${functions} functions, ${calls} calls`;
}

async function traceAll(root: string): Promise<ReadonlyMap<string, Trace>> {
  const checkout = await importHelpers(realpathSync(root));
  const traces = new Map<string, Trace>();
  for (const name of options.flow) {
    const flow = FLOWS[name];
    if (flow !== undefined) traces.set(name, await flow(checkout));
  }
  return traces;
}

async function importHelpers(root: string): Promise<Checkout> {
  const load = async (path: string): Promise<unknown> => import(pathToFileURL(join(root, path)).href);
  /* oxlint-disable typescript/no-unsafe-type-assertion -- the helpers of another checkout, whose types are not known here */
  const { World } = (await load('test/processes/world.ts')) as {
    World: new (settings: Readonly<Record<string, string>>) => World;
  };
  const { readLedger } = (await load('test/processes/ledger.ts')) as Pick<Checkout, 'readLedger'>;
  /* oxlint-enable typescript/no-unsafe-type-assertion */
  return { root, open: (settings) => new World(settings), readLedger };
}

/** Traces from the client's request to the supervisor's answer, including the daemon's work for it. */
async function traceStop(checkout: Checkout): Promise<Trace> {
  await using world = checkout.open({ BATON_TICK_MS: NEVER });
  const runbook = '[agents.resting]\nrun = "exec cat"\non_stop = "escalate"\n';
  world.commit(
    world.repository,
    { 'baton.toml': `${runbook}\n[notify]\ndesktop = false\nterminal = false\n` },
    'a runbook',
  );
  await world.startDaemon({ imports: [PROBE] });
  const { id } = await world.order('run_start', { name: 'resting', args: [] });
  const folder = join(world.stateDir, 'agents', String(id));
  const { port } = await until('the agent runs', () => readFields(join(folder, 'running-1.json')));
  const { agent_token } = (await until('its token is there', () => readFields(join(folder, 'launch-1.json')))) ?? {};
  await untilRecorded(checkout, world, 'AgentStarted');
  await untilStill(checkout, world);
  const trace = await measure(checkout, world, async () => {
    const response = await fetch(`http://127.0.0.1:${String(port)}/hook/stop`, {
      method: 'POST',
      headers: { authorization: `Bearer ${String(agent_token)}` },
      body: '{"stop_hook_active":false}',
    });
    const answer = await response.text();
    if (!answer.includes('"block"')) throw new Error(`the stop hook did not block: ${response.status} ${answer}`);
    await untilStill(checkout, world);
  });
  await world.order('agent_kill', { id });
  await untilRecorded(checkout, world, 'AgentExited');
  return trace;
}

/** Traces from the caller's request to its answer. */
async function traceExit(checkout: Checkout): Promise<Trace> {
  await using world = checkout.open({ BATON_TICK_MS: NEVER, AGENT_EXIT_PROTOCOL_ENABLED: 'true' });
  await world.startDaemon({ imports: [PROBE] });
  await world.order('task_create', { task_id: 'T1', title: 'Something' });
  const { token } = await world.order('task_claim', { task_id: 'T1', as: 'ada' });
  const client = world.client(String(token));
  const before = await untilStill(checkout, world);
  return await measure(checkout, world, async () => {
    const signal = {
      protocol: 'apm2_agent_exit',
      version: '1.0.0',
      phase_completed: 'IMPLEMENTATION',
      exit_reason: 'completed',
    };
    const answer = await client.call('exit_signal', signal);
    if (!answer.ok) throw new Error(`the signal was refused: ${JSON.stringify(answer)}`);
    const types = (await checkout.readLedger(world)).slice(before).map(({ type }) => type);
    if (types.join() !== 'AgentSessionCompleted,ClaimCompleted,PhaseMoved')
      throw new Error(`recorded: ${types.join()}`);
  });
}

/** Traces the workflow of `npm start`, from the request until its end is sealed. */
async function traceIssue(checkout: Checkout): Promise<Trace> {
  await using world = checkout.open({});
  cpSync(join(checkout.root, 'examples', 'sample'), world.repository, { recursive: true });
  world.commit(world.repository, {}, 'the sample');
  await world.startDaemon({ imports: [PROBE] });
  await world.order('status_get', {});
  const trace = await measure(checkout, world, async () => {
    await world.order('run_start', { name: 'issue', args: ['Read durations back'] });
    await untilRecorded(checkout, world, 'LedgerSealed', 300_000);
  });
  await world.endDaemon();
  return trace;
}

async function measure(checkout: Checkout, world: World, flow: () => Promise<void>): Promise<Trace> {
  await takeCounts(world);
  await flow();
  return traceOf(checkout.root, await takeCounts(world));
}

interface Script {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
  }[];
}

async function takeCounts(world: World): Promise<readonly Script[]> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-trace-'));
  try {
    const file = join(folder, 'counts.json');
    world.tellDaemon(file);
    const counts = await until('the daemon has written its counts', () => readJson(file));
    return counts as readonly Script[]; // oxlint-disable-line typescript/no-unsafe-type-assertion
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first function of a script is the body of its module. */
function traceOf(root: string, scripts: readonly Script[]): Trace {
  const source = join(root, 'src');
  const called = scripts
    .filter(({ url }) => url.startsWith(pathToFileURL(source).href))
    .map(({ url, functions }) => ({
      file: relative(root, fileURLToPath(url)),
      counts: functions
        .filter(({ functionName, ranges }) => !(functionName === '' && ranges[0]?.startOffset === 0))
        .flatMap(({ ranges }) => ranges[0]?.count ?? [])
        .filter((count) => count > 0),
    }))
    .filter(({ counts }) => counts.length > 0);
  const counts = called.flatMap((each) => each.counts);
  return {
    files: called.map(({ file }) => file).toSorted(),
    functions: counts.length,
    calls: counts.reduce((sum, count) => sum + count, 0),
  };
}

async function untilRecorded(checkout: Checkout, world: World, type: string, deadlineMs?: number): Promise<void> {
  const isThere = async (): Promise<boolean> => (await checkout.readLedger(world)).some((entry) => entry.type === type);
  await until(`${type} is recorded`, isThere, deadlineMs);
}

/**
 * Waits until there was no entry for half a second, because no entry marks the last effect of a flow. Reads the
 * ledger's file, so that the daemon runs no code for it.
 */
async function untilStill(checkout: Checkout, world: World): Promise<number> {
  let size = 0;
  let since = performance.now();
  return until('nothing is recorded any more', async () => {
    const { length } = await checkout.readLedger(world);
    if (length !== size) since = performance.now();
    size = length;
    return performance.now() - since > 500 && size;
  });
}

function readFields(path: string): Readonly<Record<string, unknown>> | undefined {
  return readJson(path) as Readonly<Record<string, unknown>> | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** Returns undefined if the file is missing or incomplete. */
function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
