import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../running.cases.ts';
import { RunScene } from '../runs.cases.ts';

let world: RunScene;
beforeEach(() => {
  world = new RunScene();
});
afterEach(async () => world.end());

/** A daemon that is killed as soon as the last entry of a workflow is durable. */
function killedAtTheEnd(repository: string, stateDir: string): string {
  const here = (file: string): string => JSON.stringify(join(import.meta.dirname, file));
  return `
    import { mkdirSync } from 'node:fs';
    import { findRepository } from ${here('../../git/repository.ts')};
    import { projectId } from ${here('../../git/repository.ts')};
    import { event } from ${here('../../state/event.ts')};
    import { decide } from ${here('../../state/decide.ts')};
    import { openBareProject } from ${here('project.cases.ts')};
    const path = ${JSON.stringify(repository)};
    const stateDir = ${JSON.stringify(stateDir)};
    mkdirSync(stateDir + '/projects', { recursive: true, mode: 0o700 });
    const repository = await findRepository(path);
    const { commandLoop } = await openBareProject({ id: projectId(repository.value), path, stateDir });
    const actor = 'operator:ann';
    await commandLoop.submit({ actor, decide: ({ state, rules }) =>
      decide(state, { kind: 'create-task', command: { id: 'A', title: 'a', phase: 'COMPLETED' } }, { kind: 'operator', name: 'ann' }, rules) });
    const said = { task_id: 'A', from: 'COMPLETED', to: 'COMPLETED', next_role: null, cause: 'closed', reason: 'closed' };
    await commandLoop.submit({ actor, decide: () => ({ ok: true, events: [event('PhaseMoved', said)], answer: null }) });
    process.stdout.write('closed', () => process.kill(process.pid, 'SIGKILL'));`;
}

describe('a daemon that is killed when a workflow has just ended', () => {
  it('leaves the seal to the next daemon, which makes it once', { timeout: 60_000 }, async () => {
    expect(await world.scene.run(killedAtTheEnd(world.repository, world.stateDir))).toBe('closed');
    await world.start();
    await until(async () => (await world.types()).includes('LedgerSealed'), 'it is sealed', 30_000);
    const entries = await world.entries();
    const closing = entries.findIndex(({ type }) => type === 'PhaseMoved') + 1;
    expect(entries.find(({ type }) => type === 'LedgerSealed')).toMatchObject({
      actor: 'system:workflow',
      data: { size: expect.any(Number) },
    });
    expect(Number(entries.find(({ type }) => type === 'LedgerSealed')?.data['size'])).toBeGreaterThanOrEqual(closing);
    await world.restart();
    await world.ask('status_get');
    expect((await world.types()).filter((type) => type === 'LedgerSealed')).toHaveLength(1);
  });
});
