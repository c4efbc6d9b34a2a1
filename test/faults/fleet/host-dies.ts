import { textOf } from '../../processes/ledger.ts';
import { expiredOf } from './claims.ts';
import type { Row } from './row.ts';
import { FleetScene, TIMES } from './scene.ts';

/**
 * A machine with agents loses power: only its claims end, and its tasks continue on other hosts from what was pushed.
 */
export const hostDies: Row = {
  key: 'host-dies',
  name: 'a host dies',
  async run({ server, hosts }) {
    await using scene = await FleetScene.open({ server: await server(), hosts, namespaces: true, agents: 6 });
    const ids = await scene.createWorkEverywhere();
    const { victim, its } = await scene.findBusiest();
    await scene.pushed(its.map(({ taskId }) => taskId));
    const begun = performance.now();
    await victim.die();
    await scene.until(
      'its claims end',
      async () => expiredOf(await scene.entries()).length >= its.length,
      4 * TIMES.expiryMs,
    );
    const seconds = (performance.now() - begun) / 1000;
    scene.letGo();
    await scene.handedOn(ids);
    const entries = await scene.entries();
    const wrong = expiredOf(entries).filter(({ taskId }) => !its.some((claim) => claim.taskId === taskId));
    const next = entries.filter(
      ({ type, data }) =>
        type === 'TaskClaimed' && data['epoch'] === 2 && its.some(({ taskId }) => taskId === data['task_id']),
    );
    const found = scene.marks().filter(({ what }) => what === 'found:1').length;
    return {
      faults: [
        ...wrong.map(({ taskId }) => `the claim on ${taskId} of another host ended`),
        ...next.flatMap(({ data }) =>
          data['host'] === victim.name ? [`${textOf(data, 'task_id')} went back to it`] : [],
        ),
        ...(found < its.length ? [`${found} of ${its.length} sessions began with what was pushed`] : []),
        ...(await scene.findFaults()),
      ],
      figures: `${its.length} claims ended after ${seconds.toFixed(1)} s`,
    };
  },
};
