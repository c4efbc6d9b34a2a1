import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Entry } from '../../../src/ledger/format/entry.ts';
import type { FleetHost } from '../../fleet/host.ts';
import { duplicatesOf } from '../../fleet/invariants.ts';
import { textOf } from '../../processes/ledger.ts';
import type { Row } from './row.ts';
import { FleetScene } from './scene.ts';

const SAMPLE = join(import.meta.dirname, '../../../examples/sample');
/** Each workflow adds a file, so that each has something to merge. */
const HAND_ON = 'agents/hand-on.mjs';
const DISTINCT = readFileSync(join(SAMPLE, HAND_ON), 'utf8').replace(
  "  git('add', '--all');",
  "  writeFileSync(`done-${/^# Task (\\S+)/.exec(readTask())[1]}.txt`, '');\n$&",
);
const SUCCESSOR_MS = 5000;

/**
 * Whole workflows, whose checks, merges and seals no host owns, while the caretaker is alternately killed and frozen.
 */
export const caretaker: Row = {
  key: 'caretaker',
  name: 'the caretaker is killed or frozen 20 times in workflows',
  async run({ server, hosts, isSmall }) {
    const [rounds, atOnce] = isSmall ? [2, 1] : [20, 4];
    await using scene = await FleetScene.open({
      server: await server(),
      hosts,
      namespaces: !isSmall,
      sample: SAMPLE,
      files: { [HAND_ON]: DISTINCT },
      env: { BATON_TICK_MS: '500' },
    });
    const ids: string[] = [];
    const delays: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      while ((await openOf(scene, ids)).length < atOnce) ids.push(await startWorkflow(scene));
      const victim = await findCaretaker(scene);
      const term = await termOf(scene);
      const begun = performance.now();
      const isKill = round % 2 === 0;
      if (isKill) await victim.world.endDaemon('SIGKILL');
      else victim.freeze();
      await scene.until('there is a successor', async () => (await termOf(scene)) > term, 30_000);
      delays.push(performance.now() - begun);
      // A frozen host continues and believes that it is still the caretaker.
      if (isKill) await victim.world.startDaemon();
      else victim.thaw();
    }
    await scene.until('every workflow is over', async () => (await openOf(scene, ids)).length === 0, 600_000);
    const entries = await scene.entries();
    const late = delays.filter((ms) => ms > SUCCESSOR_MS).map((ms) => `a successor after ${Math.round(ms)} ms`);
    return {
      faults: [...late, ...findDoneTwice(entries, ids), ...findMerges(scene, ids), ...(await scene.findFaults())],
      figures: `${rounds} times, ${ids.length} workflows, successor after ${(Math.max(...delays) / 1000).toFixed(1)} s at most`,
    };
  },
};

async function startWorkflow(scene: FleetScene): Promise<string> {
  const host = await findLive(scene);
  const { id, task_id } = await host.order<{ id?: string; task_id?: string }>('run_start', {
    name: 'issue',
    args: ['Read durations back'],
  });
  const started = task_id ?? id;
  if (started === undefined) throw new Error('the workflow has no id');
  return started;
}

async function findLive(scene: FleetScene): Promise<FleetHost> {
  return scene.until('a host answers', async () => {
    for (const host of scene.hosts) if ((await host.world.client().call('status_get', {})).ok) return host;
    return undefined;
  });
}

/** Returns the workflows that have not ended. */
async function openOf(scene: FleetScene, ids: readonly string[]): Promise<string[]> {
  const closed = new Set(
    (await scene.entries()).flatMap(({ type, data }) =>
      type === 'HandoffDelivered' && data['to'] === null ? [data['task_id']] : [],
    ),
  );
  return ids.filter((id) => !closed.has(id));
}

async function termOf(scene: FleetScene): Promise<number> {
  const changes = (await scene.entries()).filter(({ type }) => type === 'CaretakerChanged');
  return Number(changes.at(-1)?.data['term'] ?? 0);
}

async function findCaretaker(scene: FleetScene): Promise<FleetHost> {
  return scene.until('there is a caretaker', async () => {
    const changes = (await scene.entries()).filter(({ type }) => type === 'CaretakerChanged');
    const name = changes.at(-1)?.data['host'];
    return scene.hosts.find((host) => host.name === name);
  });
}

/** Finds requests of caretaker effects with more than one outcome. */
function findDoneTwice(entries: readonly Entry[], ids: readonly string[]): string[] {
  const merged = entries
    .filter(({ type, data }) => type === 'MergeFinished' && data['outcome'] === 'merged')
    .map(({ data }) => textOf(data, 'task_id'));
  const sealed = entries
    .filter(({ type }) => type === 'LedgerSealed')
    .map(({ data }) => `the root ${textOf(data, 'root')}`);
  const checks = entries
    .filter(({ type }) => type === 'CheckFinished')
    .map(({ data }) => `${textOf(data, 'task_id')} ${textOf(data, 'checks_id')} ${textOf(data, 'name')}`);
  return [
    ...duplicatesOf(merged).map((id) => `${id} was merged twice`),
    ...duplicatesOf(checks).map((id) => `the check ${id} ended twice`),
    ...duplicatesOf(sealed).map((root) => `${root} was sealed twice`),
    ...(sealed.length > 0 ? [] : ['nothing was sealed']),
    ...ids.filter((id) => !merged.includes(id)).map((id) => `${id} was never merged`),
  ];
}

/** Checks that the remote's main has one commit for each workflow. */
function findMerges(scene: FleetScene, ids: readonly string[]): string[] {
  const log = execFileSync('git', ['-C', scene.fleet.remote, 'log', 'main', '--format=%B'], { encoding: 'utf8' });
  return ids.flatMap((id) => {
    const count = log.split('\n').filter((line) => line === `Baton-Task: ${id}`).length;
    return count === 1 ? [] : [`main has ${count} commits of ${id}`];
  });
}
