import { findProcessesByMark } from '../../../src/effects/processes/supervised.ts';
import { expiredOf } from './claims.ts';
import type { Row } from './row.ts';
import { FleetScene, TIMES, type Mark } from './scene.ts';

/**
 * How long after the end of its lease an agent may still write a mark: the supervisor's timer, and one mark in
 * progress.
 */
const SLACK_MS = 500;

/**
 * A host loses its connection to the database while its agents run. It freezes them before another host may take their
 * tasks; the tasks continue elsewhere from what was pushed, and then the frozen agents are killed. A short interruption
 * has no effect.
 */
export const cutOff: Row = {
  key: 'cut-off',
  name: 'a host is cut off, its agents alive',
  async run({ server, hosts, isSmall }) {
    await using scene = await FleetScene.open({ server: await server(), hosts, namespaces: !isSmall, agents: 6 });
    const ids = await scene.createWorkEverywhere();
    const { victim, its } = await scene.findBusiest();
    const agents = new Set(scene.marksOf('start').flatMap(({ agent, host }) => (host === victim.name ? [agent] : [])));
    await scene.pushed(its.map(({ taskId }) => taskId));
    const ofVictim = (): Mark[] => scene.marks().filter(({ agent }) => agents.has(agent));

    // Shorter than a claim's lifetime: agents may freeze, but nothing is lost.
    victim.link.cut();
    await pause(TIMES.expiryMs / 2);
    victim.link.heal();
    const healed = nowMs();
    await scene.until('its agents go on', () =>
      [...agents].every((agent) => ofVictim().some((mark) => mark.agent === agent && mark.ms > healed + 1000)),
    );
    const lost = expiredOf(await scene.entries()).length;

    // Longer than a claim's lifetime.
    const cut = nowMs();
    victim.link.cut();
    await scene.until(
      'its claims end',
      async () => expiredOf(await scene.entries()).length >= its.length,
      4 * TIMES.expiryMs,
    );
    await scene.until(
      'its tasks go on elsewhere',
      () => scene.marks().filter(({ what, host }) => what === 'found:1' && host !== victim.name).length >= its.length,
    );
    const last = Math.max(...ofVictim().map(({ ms }) => ms));
    const next = Math.min(...scene.marks().flatMap(({ what, ms }) => (what === 'found:1' ? [ms] : [])));
    victim.link.heal();
    const isGone = (agent: string) => findProcessesByMark({ name: 'BATON_AGENT_ID', value: agent }).length === 0;
    await scene.until('its frozen agents are gone', () => [...agents].every(isGone));
    const late = ofVictim().filter(({ ms }) => ms > next);
    scene.letGo();
    await scene.handedOn(ids);
    const faults = await scene.findFaults();
    const refs = victim.world.git(scene.fleet.remote, 'for-each-ref', '--format=%(refname)', 'refs/heads').split('\n');
    return {
      faults: [
        ...(lost === 0 ? [] : [`${lost} claims ended in a short cut`]),
        ...(last - cut <= TIMES.expiryMs + SLACK_MS ? [] : [`an agent went on ${last - cut} ms after the cut`]),
        ...(last < next
          ? []
          : [`an agent of the host that was cut off still worked ${last - next} ms after its successor began`]),
        ...(late.length === 0 ? [] : [`${late.length} marks of agents that had been replaced`]),
        ...refs.filter((ref) => ref !== 'refs/heads/main').map((ref) => `a late push reached ${ref}`),
        ...faults,
      ],
      figures: `frozen after ${((last - cut) / 1000).toFixed(1)} s, replaced after ${((next - cut) / 1000).toFixed(1)} s, ${its.length} claims`,
    };
  },
};

/** The clock of the agents' marks. */
function nowMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
