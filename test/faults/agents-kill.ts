import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Entry } from '../../src/ledger/format/entry.ts';
import { findLedgerFault, readLedger, textOf } from '../processes/ledger.ts';
import { RunWorld, type ShownDecision } from '../processes/run-world.ts';
import { until } from '../processes/until.ts';
import { openChosenStore } from '../stores/open-store.ts';

export interface AgentKillReport {
  readonly kills: number;
  readonly runs: number;
  /** The types of the entries right after which the daemon was killed, with counts. */
  readonly behind: Readonly<Record<string, number>>;
  readonly seconds: number;
  readonly faults: readonly string[];
}

/** Every step leaves a line, so that a repeated step leaves two. Notifications go to a real receiver. */
const RUNBOOK = `
limits = { kill_after = "500ms", leave = "5s" }
[agents.worker]
run = "scripted --command-hook work.yaml"
[agents.asking]
run = "scripted ask.yaml"
on_stop = "escalate"
[pipelines.plain]
notify = true
vars = { n = "0" }
steps = [
  { name = "before", run = "echo before \${var.n} >> done.txt" },
  { name = "work", run = { agent = "worker" } },
  { name = "after", run = "echo after \${var.n} >> done.txt" },
]
[pipelines.person]
notify = true
vars = { n = "0" }
steps = [
  { name = "before", run = "echo before \${var.n} >> done.txt" },
  { name = "work", run = { agent = "asking" } },
  { name = "after", run = "echo after \${var.n} >> done.txt" },
]
`;

const SCRIPTS = {
  'work.yaml': '- run: echo work $BATON_AGENT_ID >> done.txt\n- stop\n- signal: complete\n- stop\n',
  'ask.yaml':
    'steps: [run: echo work $BATON_AGENT_ID >> done.txt, stop, stop]\non_message: [run: echo woken $BATON_AGENT_ID >> done.txt, signal: complete]\n',
};

const OUTCOMES: ReadonlySet<string> = new Set(['StepFinished', 'AgentEnded', 'PipelineFinished']);

/**
 * Kills the daemon during a pipeline of a shell step, an agent and a shell step: in the first run after every entry, in
 * the others once each, one entry later in every run. The outcome must always be the same, with nothing done twice.
 */
export async function runAgentKills({ every }: { readonly every: boolean }): Promise<AgentKillReport> {
  const begun = performance.now();
  await using scene = await RunWorld.open({ runbook: RUNBOOK, scripts: SCRIPTS });
  // The first request for a project opens its ledger.
  await scene.ask('status_get');
  const killer = new Killer(scene);
  const faults: string[] = [];
  let runs = 0;
  const play = async (pipeline: string, mayKill: (entriesOfRun: number) => boolean): Promise<number> => {
    runs += 1;
    const before = await readLedger(scene.world);
    const heardBefore = scene.receiver.heard.length;
    const id = await scene.run(pipeline, '--n', String(runs));
    await killer.follow(before.length, mayKill, async () => settle(scene, id));
    const entries = (await readLedger(scene.world)).slice(before.length);
    const heard = scene.receiver.heard.slice(heardBefore).map(({ id: notification }) => notification);
    const found = findFaults({ entries, heard, lines: scene.lines('done.txt'), run: runs, pipeline });
    faults.push(...found.map((fault) => `run ${runs} (${pipeline}): ${fault}`));
    return entries.length;
  };
  for (const pipeline of ['plain', 'person']) {
    const length = await play(pipeline, () => true);
    for (let n = 1; every && n <= length; n += 1) {
      let isSpent = false;
      await play(pipeline, (entries) => {
        if (isSpent || entries < n) return false;
        isSpent = true;
        return true;
      });
    }
  }
  const left = await until('supervisors have left', () => scene.processes().length === 0 && 'none', 60_000).catch(
    () => `processes ${scene.processes().join(', ')} are left`,
  );
  if (left !== 'none') faults.push(left);
  await scene.world.endDaemon();
  const fault = await findLedgerFault(scene.world);
  if (fault !== undefined) faults.push(`the ledger does not verify: ${fault}`);
  const seconds = Math.round((performance.now() - begun) / 1000);
  return { kills: killer.kills, runs, behind: killer.behind, seconds, faults };
}

/** Watches the ledger's file, and kills the daemon as soon as the file grows. */
class Killer {
  readonly #scene: RunWorld;
  readonly behind: Record<string, number> = {};
  kills = 0;

  constructor(scene: RunWorld) {
    this.#scene = scene;
  }

  /** Runs until the run has ended; calls `isOver` only if nothing has just been killed. */
  async follow(
    from: number,
    mayKill: (entriesOfRun: number) => boolean,
    isOver: () => Promise<boolean>,
  ): Promise<void> {
    const { ledgerFile, project } = this.#scene.world;
    const store = await openChosenStore(ledgerFile, project);
    const deadline = performance.now() + FOLLOW_MS;
    try {
      for (let seen = from, asked = 0; ;) {
        if (performance.now() > deadline) throw new Error('the run does not come to an end');
        const { size } = await store.head();
        if (size > seen) {
          seen = size;
          if (mayKill(size - from)) {
            await this.#kill(size);
            asked = 0;
          }
        } else if (performance.now() - asked > 50) {
          if (await isOver()) return;
          asked = performance.now();
        }
        await delay(1);
      }
    } finally {
      await store.close();
    }
  }

  async #kill(size: number): Promise<void> {
    await this.#scene.world.endDaemon('SIGKILL');
    this.kills += 1;
    const last = (await readLedger(this.#scene.world))[size - 1]?.type ?? '';
    this.behind[last] = (this.behind[last] ?? 0) + 1;
    await this.#scene.world.startDaemon();
  }
}

const FOLLOW_MS = 180_000;

/**
 * Reports whether nothing more will happen: the pipeline has ended, its agents have exited and people were notified.
 * Answers decisions meanwhile.
 */
async function settle(scene: RunWorld, id: string): Promise<boolean> {
  const { status, decision_id } = await scene.ask('pipeline_show', { id });
  if (status === 'waiting') {
    const { options, context } = await scene.ask<ShownDecision>('decision_show', { id: decision_id });
    if (!options.some(({ action }) => action === 'nudge')) throw new Error(`an unexpected question: ${context}`);
    // Repeats the answer, as a person whose answer was lost would.
    await scene.resolve(decision_id, 'nudge', 'Go on');
    return false;
  }
  if (status === 'running') return false;
  const entries = await readLedger(scene.world);
  const of = (type: string): Entry[] => entries.filter((entry) => entry.type === type);
  const requested = of('NotificationRequested').map(({ data }) => data['notification_id']);
  const sent = new Set(of('NotificationSent').map(({ data }) => data['notification_id']));
  const { agents } = await scene.ask<{ agents: readonly unknown[] }>('agent_list');
  return agents.length === 0 && requested.every((each) => sent.has(each));
}

interface Ran {
  readonly entries: readonly Entry[];
  readonly heard: readonly string[];
  readonly lines: readonly string[];
  readonly run: number;
  readonly pipeline: string;
}

/** Returns the differences from a run without kills. */
export function findFaults({ entries, heard, lines, run, pipeline }: Ran): string[] {
  const of = (type: string): Entry[] => entries.filter((entry) => entry.type === type);
  const agents = of('AgentRequested').map(({ data }) => textOf(data, 'agent_id'));
  const isPerson = pipeline === 'person';
  const outcomes = entries.filter(({ type }) => OUTCOMES.has(type)).map(({ data }) => textOf(data, 'outcome'));
  const own = lines.filter((line) => agents.some((id) => line.endsWith(id)) || line.endsWith(` ${run}`));
  const expected = [`before ${run}`, `work ${agents[0]}`, ...(isPerson ? [`woken ${agents[0]}`] : []), `after ${run}`];
  const counts: readonly (readonly [type: string, count: number])[] = [
    ['PipelineStarted', 1],
    ['StepStarted', 3],
    ['CommandRequested', 2],
    ['CommandFinished', 2],
    ['AgentRequested', 1],
    ['AgentSignalled', 1],
    ['AgentEnded', 1],
    ['DecisionOpened', isPerson ? 1 : 0],
    ['DecisionResolved', isPerson ? 1 : 0],
    ['NotificationRequested', isPerson ? 2 : 1],
    ['NotificationSent', isPerson ? 2 : 1],
  ];
  const starts = of('AgentStarted').map(({ data }) => textOf(data, 'start'));
  const exits = of('AgentExited').map(({ data }) => textOf(data, 'start'));
  const delivered = of('NotificationSent').filter(({ data }) => textOf(data, 'sent').includes('webhook'));
  return [
    ...(outcomes.every((outcome) => outcome === 'done') && outcomes.length === 5
      ? []
      : [`it ended ${outcomes.join()}`]),
    ...(own.join('\n') === expected.join('\n') ? [] : [`done were: ${own.join(', ')}`]),
    ...counts.flatMap(([type, count]) => (of(type).length === count ? [] : [`${of(type).length} × ${type}`])),
    ...(new Set(starts).size === starts.length ? [] : [`starts ${starts.join()}`]),
    ...(exits.join() === starts.join() ? [] : [`starts ${starts.join()}, exits ${exits.join()}`]),
    ...(new Set(heard).size === heard.length ? [] : [`told twice: ${heard.join(', ')}`]),
    ...delivered.flatMap(({ data }) =>
      heard.includes(textOf(data, 'notification_id')) ? [] : ['it is said to have been told, and nobody heard'],
    ),
  ];
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { every: { type: 'boolean', default: false } } });
  const report = await runAgentKills(values);
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = report.faults.length === 0 ? 0 : 1;
}
