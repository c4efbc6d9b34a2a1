import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { refusalOf } from '../processes/answers.ts';
import { findLedgerFault } from '../processes/ledger.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';
import { isPostgres } from '../stores/chosen.ts';

it.skipIf(isPostgres)(
  'a lost database is detected, while it is open and at the next start, and is not replaced by a new one',
  async () => {
    await using world = await World.open();
    await world.order('task_create', { task_id: 'T1', title: 'x' });
    const database = world.ledgerFile;
    const aside = join(world.folder, 'aside.db');
    renameSync(database, aside);
    const client = world.client();
    // Not every commit checks that the file exists, so several are tried.
    let n = 1;
    const refused = await until('it is missed', async () => {
      const answer = await client.call('task_create', { task_id: `T${(n += 1)}`, title: 'y' });
      return !answer.ok && answer;
    });
    expect(refusalOf(refused)).toContain('was removed, or replaced by another file');
    await world.endDaemon();
    await world.startDaemon();
    const missed = world.baton(['task', 'list']);
    expect(missed).toMatchObject({ code: 1, out: '' });
    expect(missed.err).toContain('is missing: ');
    expect(world.baton(['ledger', 'log']).code).not.toBe(0);
    expect(existsSync(database)).toBe(false);
    // Once the database is back, the project continues.
    renameSync(aside, database);
    expect(world.baton(['task', 'show', 'T1'])).toMatchObject({ code: 0, err: '' });
    expect(await findLedgerFault(world)).toBeUndefined();
  },
);
