import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { findLedgerFault, readLedger, since } from '../processes/ledger.ts';
import { World } from '../processes/world.ts';
import { isPostgres } from '../stores/chosen.ts';

/** SPEC 1.6: without the copy it is unknown whether entries at the end are missing, so its absence is recorded. */
it.skipIf(isPostgres)('records once that the outside checkpoint was missing, and continues', async () => {
  await using world = await World.open();
  await world.order('task_create', { task_id: 'T1', title: 'before' });
  await world.endDaemon();
  const before = await readLedger(world);
  const checkpoint = `${world.ledgerFile}.checkpoint`;
  expect(existsSync(checkpoint)).toBe(true);
  rmSync(checkpoint);

  await world.startDaemon();
  await world.order('task_create', { task_id: 'T2', title: 'after' });
  const [missing, created] = await since(world, before);
  expect(missing).toMatchObject({
    type: 'OutsideCheckpointMissing',
    actor: 'system:daemon',
    data: { size: before.length },
  });
  expect(created).toMatchObject({ type: 'TaskCreated', data: { task_id: 'T2' } });

  // The next commit wrote the copy again, so the next start records nothing.
  await world.endDaemon();
  expect(existsSync(checkpoint)).toBe(true);
  await world.startDaemon();
  await world.order('task_create', { task_id: 'T3', title: 'later' });
  const told = (await readLedger(world)).filter(({ type }) => type === 'OutsideCheckpointMissing');
  expect(told).toHaveLength(1);
  expect(await findLedgerFault(world)).toBeUndefined();
});

it.skipIf(isPostgres)('does not take a project without history, or a torn copy, for a missing one', async () => {
  await using world = await World.open();
  await world.order('task_create', { task_id: 'T1', title: 'first' });
  await world.endDaemon();
  writeFileSync(`${world.ledgerFile}.checkpoint`, 'baton/');
  await world.startDaemon();
  await world.order('task_create', { task_id: 'T2', title: 'second' });
  const types = (await readLedger(world)).map(({ type }) => type);
  expect(types).toEqual(['KeyAdded', 'MainMoved', 'TaskCreated', 'TaskCreated']);
  expect(await findLedgerFault(world)).toBeUndefined();
});
