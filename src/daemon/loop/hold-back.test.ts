import { expect, it } from 'vitest';
import { MemoryStore } from '../../ledger/memory-store.ts';
import { openTestLedger, testSigner } from '../../ledger/writer/ledger.cases.ts';
import type { Caller } from '../../state/caller.ts';
import type { Command } from '../../state/decide.ts';
import type { RecordedEvent } from '../../state/event.ts';
import { claim, create, release } from '../../state/say.cases.ts';
import { CommandLoop } from './command-loop.ts';
import { loadState } from './fold-state.ts';
import type { CommandLoopOptions } from './request.ts';
import { CommitClock } from './speculative-state.ts';

const ANN: Caller = { kind: 'operator', name: 'ann' };
const isEnd = ({ type }: Pick<RecordedEvent, 'type'>): boolean => type === 'ClaimRevoked';

async function openLoop(holdBack: NonNullable<CommandLoopOptions['holdBack']>) {
  const clock = new CommitClock(() => new Date());
  const ledger = await openTestLedger({ store: new MemoryStore(), signer: testSigner(1), clock: () => clock.read() });
  const recorded: string[] = [];
  const loop = new CommandLoop({
    ledger,
    state: await loadState(ledger),
    rules: { ciGate: false, mergeGate: false },
    here: undefined,
    clock,
    onRecorded: (entries) => void recorded.push(...entries.map(({ type }) => type)),
    onInternalError: (error) => {
      throw error;
    },
    holdBack,
  });
  return { recorded, say: async (command: Command) => loop.submitCommand(command, ANN), loop };
}

it('records the end of a claim only after what must happen first, and other requests meanwhile', async () => {
  const pushed = Promise.withResolvers<void>();
  let calls = 0;
  const { recorded, say, loop } = await openLoop((entries) => {
    if (!entries.some(isEnd)) return undefined;
    calls += 1;
    return pushed.promise;
  });
  await say(create('A'));
  await say(claim('A', 's1'));
  const ended = say(release('A'));
  // This request is in the same batch but must not wait.
  const created = await say(create('B'));
  expect([created.ok, recorded.at(-1)]).toEqual([true, 'TaskCreated']);
  expect((await say(create('C'))).ok).toBe(true);
  expect((await loop.read(({ state }) => state.tasks.get('A')?.claim)).ok).toBe(true);
  expect(recorded).not.toContain('ClaimRevoked');
  pushed.resolve();
  expect((await ended).ok).toBe(true);
  expect([recorded.at(-1), calls]).toEqual(['ClaimRevoked', 1]);
});

it('decides the request again on the state at that time', async () => {
  const pushed = Promise.withResolvers<void>();
  const { say, recorded } = await openLoop((entries) => (entries.some(isEnd) ? pushed.promise : undefined));
  await say(create('A'));
  await say(claim('A', 's1'));
  const first = say(release('A', { epoch: 1 }));
  const second = say(release('A', { epoch: 1 }));
  pushed.resolve();
  const answers = await Promise.all([first, second]);
  expect(answers.map(({ ok }) => ok)).toEqual([true, false]);
  expect(recorded.filter((type) => type === 'ClaimRevoked')).toHaveLength(1);
});
