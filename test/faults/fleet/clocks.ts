import { findFaketime } from '../../processes/faketime.ts';
import { expiredOf } from './claims.ts';
import type { Row } from './row.ts';
import { FleetScene, SHORT, TIMES } from './scene.ts';

const HOUR_S = 3600;

/** One host's clock is an hour ahead, another's an hour behind: nothing ends early, and both hosts are reported. */
export const clocks: Row = {
  key: 'clocks',
  name: 'clocks one hour off, either way',
  findObstacle: () =>
    findFaketime() === undefined ? 'libfaketime is missing (package faketime): npm run test:setup' : undefined,
  async run({ server }) {
    // In a namespace this test calls a host at its port, without a pass: the time of a pass is that of the true clock.
    await using scene = await FleetScene.open({ server: await server(), hosts: 1, namespaces: true, agents: 2 });
    const ahead = await scene.fleet.addHost({ ...SHORT, ...faked(HOUR_S) });
    const behind = await scene.fleet.addHost({ ...SHORT, ...faked(-HOUR_S) });
    const ids = await scene.createWork(scene.host(0), 6);
    await scene.until('every task has an agent', () => scene.marksOf('committed').length >= ids.length);
    // Waits for twice the duration of a claim.
    await new Promise((resolve) => setTimeout(resolve, 2 * TIMES.expiryMs));
    // Each is the caretaker for a while, because the caretaker expires claims.
    for (const host of [ahead, behind]) {
      for (const other of scene.hosts)
        if (other !== host) await other.order('host_drain', { host: other.name, draining: true });
      await scene.until(`${host.name} is the caretaker`, async () => caretakerOf(scene, host.name), 20_000);
      await new Promise((resolve) => setTimeout(resolve, TIMES.expiryMs));
      for (const other of scene.hosts)
        if (other !== host) await other.order('host_drain', { host: other.name, draining: false });
    }
    const shown = await scene
      .host(0)
      .order<{ fleet: { hosts: { name: string; offset_ms: number | null; summary: string }[] } }>('fleet_show');
    const { attention } = await scene.host(0).order<{ attention: { title: string; context: string }[] }>('status_get');
    scene.letGo();
    await scene.handedOn(ids);
    const entries = await scene.entries();
    const times = entries.map(({ at }) => Date.parse(at));
    const wrong = times.filter((ms, i) => ms < (times[i - 1] ?? 0) || Math.abs(ms - Date.now()) > (1000 * HOUR_S) / 2);
    const unnamed = [ahead, behind].filter(
      ({ name }) =>
        !shown.fleet.hosts.some((host) => host.name === name && Math.abs(host.offset_ms ?? 0) > 1000 * (HOUR_S - 60)) ||
        !attention.some(({ title, context }) => `${title} ${context}`.includes(name)),
    );
    return {
      faults: [
        ...expiredOf(entries).map(({ taskId }) => `the claim on ${taskId} ended early`),
        ...(wrong.length === 0 ? [] : [`${wrong.length} entries have the time of a wrong clock`]),
        ...unnamed.map(({ name }) => `${name} is not named`),
        ...(await scene.findFaults()),
      ],
      figures: shown.fleet.hosts
        .map(({ name, offset_ms }) => `${name} ${Math.round((offset_ms ?? 0) / 1000)} s`)
        .join(', '),
    };
  },
};

async function caretakerOf(scene: FleetScene, name: string): Promise<boolean> {
  const changes = (await scene.entries()).filter(({ type }) => type === 'CaretakerChanged');
  return changes.at(-1)?.data['host'] === name;
}

function faked(seconds: number): Record<string, string> {
  return {
    LD_PRELOAD: findFaketime() ?? '',
    FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
  };
}
