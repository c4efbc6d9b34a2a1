import { join } from 'node:path';
import { readFileIfPresent } from '../src/api/files.ts';
import { readLedger } from '../test/processes/ledger.ts';
import { RunWorld } from '../test/processes/run-world.ts';
import { atMost, type Benchmark, type Measure, median } from './measure.ts';

const STARTS = 15;
let runs = 0;
const CALLS = 300;

/** Records when it starts, then calls its supervisor as hooks and MCP do, and reports the medians. */
const AGENT = `
import { Agent, request } from 'node:http';
import { writeFileSync } from 'node:fs';
const began = Date.now();
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const post = (path, body) => new Promise((resolve, reject) => {
  const headers = { authorization: 'Bearer ' + process.env.BATON_TOKEN, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const sent = request(process.env.BATON_URL + path, { method: 'POST', agent, headers }, (response) => {
    response.resume();
    response.once('end', resolve);
  });
  sent.once('error', reject);
  sent.end(body);
});
const times = async (path, body) => {
  const all = [];
  for (let i = 0; i < ${CALLS}; i++) {
    const at = performance.now();
    await post(path, body);
    all.push(performance.now() - at);
  }
  return all.sort((a, b) => a - b)[${CALLS / 2}];
};
const measured = process.argv[2] === 'calls'
  ? { hook: await times('/hook/post-tool-use', '{"tool_name":"Bash"}'), mcp: await times('/mcp', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}') }
  : {};
writeFileSync('measured.json', JSON.stringify({ began, ...measured }));
`;

const agentOf = (name: string, mode: string, mission: string): string =>
  `${name} = { run = "node agent.mjs ${mission}", sandbox = "${mode}", on_dead = "done", on_stop = "signal" }\n`;

const NAMES = ['open', 'boxed', 'opencalls', 'boxedcalls'] as const;

const RUNBOOK = `
exit_protocol = false
[agents]
${agentOf('open', 'none', 'start')}${agentOf('boxed', 'bubblewrap', 'start')}
${agentOf('opencalls', 'none', 'calls')}${agentOf('boxedcalls', 'bubblewrap', 'calls')}
[workers]
${NAMES.map((name) => `w_${name} = { tasks = ["${name}-*"], run = { agent = "${name}" } }\n`).join('')}
`;

interface Measured {
  readonly began: number;
  readonly hook: number;
  readonly mcp: number;
}

/** The cost of the sandbox: the start of a session in a new worktree, and each call of a hook or a tool. */
export const sandbox: Benchmark = {
  name: 'sandbox',
  async run() {
    const world = await RunWorld.open({ runbook: RUNBOOK, scripts: { 'agent.mjs': AGENT } });
    try {
      await start(world, 'open');
      await start(world, 'boxed');
      const starts = { open: [] as number[], boxed: [] as number[] };
      for (let i = 0; i < STARTS; i++) {
        starts.open.push(await start(world, 'open'));
        starts.boxed.push(await start(world, 'boxed'));
      }
      const open = await calls(world, 'opencalls');
      const boxed = await calls(world, 'boxedcalls');
      return [
        limit(1.3, 'session start in a sandbox', median(starts.boxed), median(starts.open)),
        limit(1.1, 'hook call from a sandbox', boxed.hook, open.hook),
        limit(1.1, 'MCP call from a sandbox', boxed.mcp, open.mcp),
      ];
    } finally {
      await world[Symbol.asyncDispose]();
    }
  },
};

function limit(times: number, name: string, value: number, without: number): Measure {
  return atMost(times, { name, value, unit: 'ms', against: 'without', limit: without });
}

/** Measures from the claim to the first line of the agent's program: worktree, mission, supervisor, sandbox. */
async function start(world: RunWorld, name: string): Promise<number> {
  const id = `${name}-${(runs += 1)}`;
  const { began } = await finish(world, id);
  const claimed = (await readLedger(world.world)).find(
    ({ type, data }) => type === 'TaskClaimed' && data['task_id'] === id,
  );
  return began - Date.parse(claimed?.at ?? '');
}

async function calls(world: RunWorld, name: string): Promise<Measured> {
  return finish(world, `${name}-${(runs += 1)}`);
}

async function finish(world: RunWorld, id: string): Promise<Measured> {
  await world.ask('task_create', { task_id: id, title: id });
  const folder = join(world.repository, '.worktrees', `${id.toLowerCase()}-${id.toLowerCase()}`);
  const text = await world.until(
    'the agent has measured',
    () => readFileIfPresent(join(folder, 'measured.json')) || undefined,
  );
  return JSON.parse(text) as Measured; // oxlint-disable-line typescript/no-unsafe-type-assertion
}
