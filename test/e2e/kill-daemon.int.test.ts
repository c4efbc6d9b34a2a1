import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import type { Answer } from '../../src/api/answer.ts';
import type { Entry } from '../../src/ledger/format/entry.ts';
import { findFault, findImpossible, keysIn, runDaemonKills } from '../faults/daemon-kill.ts';
import { resultOf } from '../processes/answers.ts';
import { holdLock } from '../processes/break-store.ts';
import { readLedger, since, typesOf } from '../processes/ledger.ts';
import { isLongRun } from '../processes/long-run.ts';
import type { Sent } from '../processes/mixed-worker.ts';
import { World } from '../processes/world.ts';
import { isPostgres } from '../stores/chosen.ts';

const { rounds, commands } = isLongRun ? { rounds: 20, commands: 10_000 } : { rounds: 2, commands: 400 };

it(`what 16 clients were answered is recorded once, whatever they sent while the daemon was killed ${rounds} times`, async () => {
  const report = await runDaemonKills({ rounds, commands });
  expect(report.faults).toEqual([]);
  expect(report.acknowledged).toBeGreaterThan(commands / 2);
  // The daemon was killed during calls: some got no answer at first.
  expect(report.retried + report.unheard.recorded + report.unheard.notRecorded).toBeGreaterThan(0);
}, 900_000);

it('acknowledges nothing that is not on the disk: killed in the middle of a commit, it has acknowledged none of it', async () => {
  await using world = await World.open();
  const ids = Array.from({ length: 8 }, (_, i) => `T${i}`);
  for (const id of ids) await world.order('task_create', { task_id: id, title: id });
  const worker = world.workerClient();
  const claims = async (): Promise<Answer[]> =>
    Promise.all(ids.map(async (id) => worker.call('task_claim', { task_id: id, as: 'w' }, { key: `claim-${id}` })));
  const before = await readLedger(world);
  const letGo = await holdLock(world);
  let told = 0;
  const lost = claims().then((answers) => {
    told = answers.length;
    return answers;
  });
  // The daemon cannot continue from here. Only a wait can show that it sends nothing anyway.
  await delay(500);
  expect(told).toBe(0);
  await world.endDaemon('SIGKILL');
  expect((await lost).filter(({ ok }) => ok)).toEqual([]);
  await letGo();
  await world.startDaemon();
  // A commit that has reached PostgreSQL completes without the daemon that sent it.
  expect(typesOf(await since(world, before))).toEqual(isPostgres ? ids.map(() => 'TaskClaimed') : []);
  const first = await claims();
  expect(first.filter(({ ok }) => !ok)).toEqual([]);
  expect((await claims()).map(resultOf)).toMatchObject(
    first.map((each) => ({ epoch: 1, session_id: resultOf(each)['session_id'] })),
  );
  expect(typesOf(await since(world, before))).toEqual(ids.map(() => 'TaskClaimed'));
}, 60_000);

it('would detect what is lost, doubled, invented or answered differently', () => {
  const entry = (seq: number, type: string, data: Entry['data']): Entry => {
    return { v: 1, project: 'p', seq, prev: '', at: '', actor: 'system:x', type, cause: null, data };
  };
  const claim = (seq: number, key: string, epoch: number): Entry =>
    entry(seq, 'TaskClaimed', { task_id: 'T', epoch, settles: { key: `worker:task_claim:${key}`, answer: { epoch } } });
  const sent = (answer: Sent['answer']): Sent => {
    const one = { key: 'k', operation: 'task_claim', input: {}, token: '', losses: 0 };
    return answer === undefined ? one : { ...one, answer };
  };
  const told = (result: object) => sent({ ok: true, result });
  const refused = (code: string) => sent({ ok: false, error: { code, message: 'no', hint: '' } });
  const once = keysIn([claim(1, 'k', 1)]);
  expect(findFault(told({ epoch: 1 }), once)).toEqual([]);
  expect(findFault(told({ epoch: 2 }), once)).toHaveLength(1);
  expect(findFault(told({ epoch: 1 }), keysIn([]))).toEqual(['task_claim k was acknowledged, and is there 0 times']);
  expect(findFault(told({ epoch: 1 }), keysIn([claim(1, 'k', 1), claim(2, 'k', 2)]))).toHaveLength(1);
  expect(findFault(refused('already-claimed'), once)).toEqual(['task_claim k was refused, and is in the ledger']);
  expect(findFault(refused('already-claimed'), keysIn([]))).toEqual([]);
  expect(findFault(refused('internal'), keysIn([]))).toEqual(['task_claim k was refused: internal: no']);
  expect(findFault(sent(undefined), once)).toEqual(['task_claim k was never answered']);
  expect(findImpossible([claim(1, 'a', 1), claim(2, 'b', 2)])).toEqual(['2: "T" is claimed twice']);
  const end = (seq: number) => entry(seq, 'ClaimReleased', { task_id: 'T', epoch: 1 });
  expect(findImpossible([claim(1, 'a', 1), end(2), claim(3, 'b', 2)])).toEqual([]);
  expect(findImpossible([claim(1, 'a', 1), end(2), end(3)])).toEqual(['3: the claim on "T" ends twice']);
});
