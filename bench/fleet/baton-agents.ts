import { setTimeout as delay } from 'node:timers/promises';
import type { Answer } from '../../src/api/answer.ts';
import { Client } from '../../src/api/client/client.ts';
import { PHASES, RECORD } from '../handoff/baton.ts';
import { type CrowdPlan, workTimeOf } from './crowd.ts';
import type { CrowdRecord } from './crowd-worker.ts';

/** The address of a host's daemon, for its agents. */
export interface BatonPlace {
  readonly name: string;
  readonly stateDir: string;
  readonly repository: string;
  readonly commit: string;
}

/**
 * Runs the agents of one host: each waits for work, claims it, works, renews its claim and hands on with an exit
 * signal.
 */
export async function runBatonAgents(place: string, plan: CrowdPlan, record: CrowdRecord): Promise<void> {
  const host = JSON.parse(place) as BatonPlace; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const operator = clientOf(host);
  const { token } = require(await operator.issueWorkerToken(host.name));
  operator.close();
  const client = clientOf(host, token);
  await Promise.all(Array.from({ length: plan.agents }, async () => runAgent(client, host, plan, record)));
}

async function runAgent(
  client: Client,
  { name, commit }: BatonPlace,
  plan: CrowdPlan,
  record: CrowdRecord,
): Promise<void> {
  for (;;) {
    const claimed = await client.call('task_claim', { as: name, wait_ms: WAIT_MS });
    if (!claimed.ok && claimed.error.code === 'no-work') continue;
    const { task_id, epoch, token } = require(claimed);
    const [chain, n] = task_id.split('-');
    const round = Number(n) * PHASES.length + epoch;
    record.take(`${chain} ${round}`);
    await work(client, task_id, token, workTimeOf(plan));
    const phase_completed = PHASES[epoch - 1];
    if (phase_completed === PHASES.at(-1))
      require(await client.call('thought_record', { ...RECORD, task_id, commit_sha: commit }, { token }));
    if (!record.give(`${chain} ${round + 1}`)) return;
    const exit = { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed, exit_reason: 'completed' };
    require(await client.forward('exit_signal', exit, { token }));
  }
}

/** Works and renews the claim every 30 seconds, as a supervisor would. */
async function work(client: Client, task_id: string, token: string, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= RENEWAL_MS) {
    await delay(Math.min(left, RENEWAL_MS));
    if (left > RENEWAL_MS) require(await client.call('task_heartbeat', { task_id }, { token }));
  }
}

const WAIT_MS = 60_000;
const RENEWAL_MS = 30_000;

export function clientOf({ stateDir, repository: projectPath }: BatonPlace, given?: string): Client {
  const token = given === undefined ? ({ ofFolder: 'operator' } as const) : { given };
  return new Client({ stateDir, env: process.env, token, projectPath, autostart: false, reachMs: 30_000 });
}

function require(answer: Answer): { readonly task_id: string; readonly epoch: number; readonly token: string } {
  if (!answer.ok) throw new Error(`${answer.error.code}: ${answer.error.message}`);
  return answer.result as ReturnType<typeof require>; // oxlint-disable-line typescript/no-unsafe-type-assertion
}
