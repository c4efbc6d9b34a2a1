import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { agentFiles } from '../src/supervisor/contract.ts';
import { RunWorld } from '../test/processes/run-world.ts';
import { median } from './measure.ts';

const STOPS = 200;

/** The gate keeps `on_idle` busy, so that only one entry is measured, without its consequences. */
const RUNBOOK = `
[agents.waiting]
run = "exec cat"
on_stop = { action = "idle", attempts = "forever" }
on_idle = { action = "gate", run = "sleep 600" }
[limits]
blocks = 1000000
`;

/**
 * Measures a stop that is recorded before it is answered, an entry requested from the daemon directly, and a request
 * without work.
 */
export async function measureOnRecord() {
  await using scene = await RunWorld.open({ runbook: RUNBOOK });
  const id = await scene.run('waiting');
  const { config, launch, running } = agentFiles(scene.world.stateDir, id);
  const port = await scene.until('it runs', () => fieldIn(running(1), 'port') ?? undefined);
  const token = String(fieldIn(launch(1), 'agent_token'));
  if (fieldIn(config, 'on_stop') !== 'idle') throw new Error('the agent may stop in another way than it should');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const call = async (path: string, body: string): Promise<string> =>
    post({ agent, port: Number(port), token, path, body });
  const [empty, stop, commit]: number[][] = [[], [], []];
  for (let i = 0; i < STOPS; i += 1) {
    empty?.push(await timed(async () => call('/hook/nothing', '')));
    commit?.push(await timed(async () => scene.ask('task_create', { task_id: `T${i}`, title: 'One entry' })));
    stop?.push(
      await timed(async () => {
        const said = await call('/hook/stop', '{"stop_hook_active":false}');
        if (!said.includes('on_idle handler invoked')) throw new Error(`the hook said: ${said}`);
      }),
    );
  }
  agent.destroy();
  await scene.ask('agent_kill', { id });
  return { empty: median(empty ?? []), stop: median(stop ?? []), commit: median(commit ?? []) };
}

interface Posted {
  readonly agent: Agent;
  readonly port: number;
  readonly token: string;
  readonly path: string;
  readonly body: string;
}

async function post({ agent, port, token, path, body }: Posted): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, 'content-length': Buffer.byteLength(body) };
    const sent = request({ agent, host: '127.0.0.1', port, method: 'POST', path, headers }, (response) => {
      response
        .setEncoding('utf8')
        .toArray()
        .then((pieces) => resolve(pieces.join('')), reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}

function fieldIn(path: string, name: string): unknown {
  try {
    const fields: Record<string, unknown> = { ...JSON.parse(readFileSync(path, 'utf8')) };
    return fields[name];
  } catch {
    return undefined;
  }
}
