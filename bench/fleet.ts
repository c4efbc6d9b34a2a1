import { runBatonCrowd } from './fleet/baton-crowd.ts';
import type { CrowdPlan } from './fleet/crowd.ts';
import { runGraphileCrowd } from './fleet/graphile-crowd.ts';
import { best, figureOf, isPresent, measure, warnIfBusy, type Figures } from './handoff.ts';
import type { Contender } from './handoff/contender.ts';
import { ON_POSTGRES } from './handoff/contenders.ts';
import { shareServer } from './handoff/postgres-venue.ts';
import { atLeast, atMost, type Benchmark, type Measure } from './measure.ts';

/** The number of runs of each system, in turns; its best run counts. */
const ROUNDS = 3;

/**
 * Many hosts on one PostgreSQL, compared with peers that use PostgreSQL: all on one server, in one run. `--minutes N`:
 * the length of the run.
 */
export const fleet: Benchmark = {
  name: 'fleet',
  async run() {
    warnIfBusy();
    const { server, stop } = await shareServer();
    try {
      return [...(await raceAll()), ...(await compareCrowds(server))];
    } finally {
      await stop();
    }
  },
};

async function raceAll(): Promise<Measure[]> {
  const present = ON_POSTGRES.filter(isPresent);
  const figures = new Map<Contender, Figures>();
  for (let i = 0; i < ROUNDS; i++) {
    for (const contender of present) figures.set(contender, best(figures.get(contender), await measure(contender)));
  }
  const [one, two, ...peers] = present.map((contender) => figureOf(contender, figures));
  if (one === undefined || two === undefined) return [];
  const graphile = peers.filter(({ name }) => name.startsWith('graphile'));
  return [
    ...peers.flatMap((peer) => [
      atMost(1, {
        name: 'one daemon, handoff, median',
        value: one.latency.medianMs,
        unit: 'ms',
        against: peer.name,
        limit: peer.latency.medianMs,
      }),
      atLeast(3, {
        name: 'one daemon, handoffs, 32 at once',
        value: one.perSecond,
        unit: '/s',
        against: peer.name,
        limit: peer.perSecond,
      }),
    ]),
    ...graphile.map(({ name: against, latency }) =>
      atMost(1, {
        name: 'from host to host, median',
        value: two.latency.medianMs,
        unit: 'ms',
        against,
        limit: latency.medianMs,
      }),
    ),
    atLeast(0.5, {
      name: 'two daemons, one project, handoffs',
      value: two.perSecond,
      unit: '/s',
      against: one.name,
      limit: one.perSecond,
    }),
  ];
}

/** 1,000 agents that each work for a minute on average: about 15 handoffs a second. */
const CROWD: Omit<CrowdPlan, 'ms'> = { hosts: 20, agents: 50, batons: 900, workMs: 60_000 };

async function compareCrowds(server: Parameters<typeof runBatonCrowd>[0]): Promise<Measure[]> {
  const plan = { ...CROWD, ms: minutes() * 60_000 };
  const ours = await runBatonCrowd(server, plan);
  const theirs = await runGraphileCrowd(server, plan);
  for (const [name, crowd] of [
    ['Baton', ours],
    ['graphile-worker', theirs],
  ] as const)
    console.log(
      `     1,000 agents on 20 hosts, ${name}: ${crowd.count} handoffs, ${crowd.perSecond.toFixed(1)} /s, median ` +
        `${crowd.medianMs.toFixed(1)} ms, p99 ${crowd.p99Ms.toFixed(1)} ms, CPU left ${Math.round(crowd.idle * 100)} %`,
    );
  return [
    atMost(2, {
      name: '1,000 agents on 20 hosts, handoff, p99',
      value: ours.p99Ms,
      unit: 'ms',
      against: 'graphile-worker at the same rate',
      limit: theirs.p99Ms,
    }),
    atMost(1, { name: 'furthest behind of any host', value: ours.behindMs, unit: 'ms', against: 'limit', limit: 1000 }),
  ];
}

function minutes(): number {
  const at = process.argv.indexOf('--minutes');
  return at < 0 ? 2 : Number(process.argv[at + 1]);
}
