import { expect, it } from 'vitest';
import { listKept } from '../../src/api/outbox.ts';
import { stateFiles } from '../../src/api/state-folder.ts';
import { refusalOf, resultOf, tokenOf } from '../processes/answers.ts';
import { findLedgerFault, readLedger } from '../processes/ledger.ts';
import { exitSignal, record } from '../processes/messages.ts';
import { World } from '../processes/world.ts';

/** Commands share commits, but must not share each other's errors. */
it('what no ledger can hold is refused only to its sender', async () => {
  await using world = await World.open({ SERVICE_PASSWORD: 'abcdefg1' });
  const commit = world.git(world.repository, 'rev-parse', 'HEAD');
  for (const id of ['T0', 'T1']) await world.order('task_create', { task_id: id, title: id });
  const session = world.client(tokenOf(await world.order('task_claim', { task_id: 'T0', as: 'a' })));
  const operator = world.client();
  let deep: object = {};
  for (let i = 0; i < 40; i += 1) deep = { deep };
  for (const [more, code] of [
    [{ summary: 'x'.repeat(100_000) }, 'too-large'],
    // The replacement is longer than the secret.
    [{ summary: 'abcdefg1 '.repeat(5000) }, 'too-large'],
    [{ blockers: [{ confidence: 0.5 }] }, 'bad-request'],
    [{ blockers: [deep] }, 'bad-request'],
  ] as const) {
    const before = await readLedger(world);
    const [bad, ...others] = await Promise.all([
      session.call('thought_record', record('T0', commit, more)),
      ...Array.from({ length: 40 }, (_, i) =>
        operator.call('task_update', { task_id: 'T1', status: 'in_progress', progress: i }),
      ),
    ]);
    expect(refusalOf(bad).split(':')[0]).toBe(code);
    expect(others.filter(({ ok }) => !ok)).toEqual([]);
    expect((await readLedger(world)).length - before.length).toBe(40);
  }
  // The call will never fit, so keeping and repeating it would be useless.
  expect(listKept(stateFiles(world.stateDir).outbox)).toEqual([]);
  resultOf(await session.call('thought_record', record('T0', commit)));
  expect(await findLedgerFault(world)).toBeUndefined();
}, 60_000);

it.each([
  ['what looks like a credential', `ghp_${'a1B2'.repeat(9)}`],
  ['a password of the environment that agents are given', 'Zebra "41" Quartz'],
])(
  '%s is neither in the ledger nor told to anybody, before a restart and after it',
  async (_what, secret) => {
    await using world = await World.open({
      AGENT_EXIT_PROTOCOL_ENABLED: 'true',
      SERVICE_PASSWORD: 'Zebra "41" Quartz',
    });
    // The work is not on main, so the next daemon finds no contradiction.
    world.git(world.repository, 'switch', '--create', 'feature/t0');
    world.commit(world.repository, { 'work.txt': 'done\n' }, 'the work');
    const commit = world.git(world.repository, 'rev-parse', 'HEAD');
    world.git(world.repository, 'switch', '-');
    await world.order('task_create', { task_id: 'T0', title: 'x' });
    const session = world.client(tokenOf(await world.order('task_claim', { task_id: 'T0', as: 'a' })));
    resultOf(await session.call('thought_record', record('T0', commit, { summary: `I used ${secret} for it.` })));
    const signal = exitSignal('IMPLEMENTATION', 'blocked', { notes: `The key ${secret} has expired.` });
    const first = resultOf(await session.forward('exit_signal', signal));
    const told = async (): Promise<string> =>
      JSON.stringify([
        await world.order('task_get', { task_id: 'T0' }),
        await world.order('task_brief', { task_id: 'T0' }),
        await world.order('thought_list', { task_id: 'T0' }),
        await readLedger(world),
      ]);
    const before = await told();
    expect(before).not.toContain(JSON.stringify(secret).slice(1, -1));
    expect(before).toContain('The key [redacted:');
    // The repeated signal counts as the same.
    expect(resultOf(await session.forward('exit_signal', signal))).toEqual(first);
    await world.endDaemon();
    await world.startDaemon();
    expect(await told()).toBe(before);
    expect(resultOf(await session.forward('exit_signal', signal))).toEqual(first);
  },
  60_000,
);
