import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Caller } from '../../state/caller.ts';
import { type Command, decide } from '../../state/decide.ts';
import { openBareProject } from '../project/project.cases.ts';
import type { KeptMessages } from './request.ts';

const SYSTEM: Caller = { kind: 'system', name: 'daemon' };
const OPERATOR: Caller = { kind: 'operator', name: 'ada' };
const SESSION: Caller = { kind: 'session', sessionId: 's1', taskId: 'A', epoch: 1 };
const EXPIRE: Command = { kind: 'expire-claim', command: { id: 'A', epoch: 1 } };

/** A project with a claimed task, whose session has put the given messages in an outbox. */
async function scene(kept: readonly Command[], canDrain = () => true) {
  const folder = mkdtempSync(join(tmpdir(), 'baton-judgement-'));
  const waiting = [...kept];
  let drains = 0;
  const messages: KeptMessages = {
    areWaiting: () => waiting.length > 0,
    blockedMs: () => 0,
    drain: async () => {
      drains += 1;
      if (!canDrain()) return false;
      for (const command of waiting) await say(command, SESSION, true);
      waiting.length = 0;
      return true;
    },
  };
  const project = await openBareProject({ id: 'p', path: folder, stateDir: folder, messages });
  onTestFinished(async () => {
    await project.close();
    rmSync(folder, { recursive: true });
  });
  const say = async (command: Command, caller: Caller, isKept = false) =>
    project.commandLoop.submit<unknown>({
      actor: 'system:test',
      isKept,
      decide: ({ state, rules, here }) => decide(state, command, caller, rules, here),
    });
  await say({ kind: 'create-task', command: { id: 'A', title: 'x' } }, OPERATOR);
  await say({ kind: 'claim-task', command: { id: 'A', sessionId: 's1', holder: 's1' } }, OPERATOR);
  const look = async () => {
    const seen = await project.commandLoop.read(({ state }) => state.tasks.get('A'));
    return seen.ok ? seen.answer : undefined;
  };
  return { project, say, look, drains: () => drains };
}

it('a judgement about silence is decided after the messages kept before it', async () => {
  const { say, look, drains } = await scene([
    { kind: 'create-task', command: { id: 'B', title: 'one' } },
    { kind: 'release-claim', command: { id: 'A', reason: 'two' } },
  ]);
  expect(await say(EXPIRE, SYSTEM)).toMatchObject({ ok: false, refusal: { code: 'claim-ended' } });
  expect((await look())?.endings).toMatchObject([{ how: 'released', reason: 'two' }]);
  expect(drains()).toBe(1);
});

it('waits while the messages cannot be recorded, and delays nothing else', async () => {
  let canDrain = false;
  const { say, look } = await scene([{ kind: 'release-claim', command: { id: 'A' } }], () => canDrain);
  expect(await say(EXPIRE, SYSTEM)).toMatchObject({ ok: false, problem: { code: 'store-unavailable' } });
  expect((await look())?.claim).not.toBeNull();
  expect(await say({ kind: 'create-task', command: { id: 'B', title: 'x' } }, OPERATOR)).toMatchObject({ ok: true });
  canDrain = true;
  expect(await say(EXPIRE, SYSTEM)).toMatchObject({ ok: false, refusal: { code: 'claim-ended' } });
});

it('is decided at once if it comes from the outbox itself', async () => {
  const { say, look, drains } = await scene([{ kind: 'release-claim', command: { id: 'A' } }]);
  expect(await say(EXPIRE, SYSTEM, true)).toMatchObject({ ok: true });
  expect([(await look())?.claim, drains()]).toEqual([null, 0]);
});

it('of an ended lease does not wait, because its holder can record nothing before', async () => {
  const { project, look, drains } = await scene([{ kind: 'release-claim', command: { id: 'A' } }], () => false);
  const options = { overtakesKept: true };
  expect(await project.commandLoop.submitCommand(EXPIRE, SYSTEM, options)).toMatchObject({ ok: true });
  expect([(await look())?.claim, drains()]).toEqual([null, 0]);
});
