import { expect, it } from 'vitest';
import type { Answer } from '../../src/api/answer.ts';
import { tokenOf } from '../processes/answers.ts';
import { about, findLedgerFault, readLedger, typesOf } from '../processes/ledger.ts';
import { World } from '../processes/world.ts';

/** Many times, processes race for one task, and each time exactly one of them claims it. */
export function proveRace(processes: number, rounds: number): void {
  it(`${processes} processes race for one task, ${rounds} times, and each time one of them has it`, async () => {
    await using world = await World.open();
    await world.order('task_create', { task_id: 'T1', title: 'One for all' });
    const peers = Array.from({ length: processes }, () => world.peer());
    await Promise.all(peers.map(async (peer) => peer.ask('ready')));
    const winners: number[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      const claims = await Promise.all(
        peers.map(async (peer, i) => peer.call('task_claim', { task_id: 'T1', as: `p${i}` })),
      );
      const winner = claims.findIndex(({ ok }) => ok);
      expect(claims.filter(({ ok }) => ok)).toHaveLength(1);
      expect(claims.filter(isTaken)).toHaveLength(processes - 1);
      expect(claims[winner]).toMatchObject({ result: { task_id: 'T1', epoch: round } });
      winners.push(winner);
      const token = tokenOf(claims[winner]);
      expect(await peers[winner]?.call('task_release', { task_id: 'T1' }, { token })).toMatchObject({ ok: true });
    }
    // The ledger agrees: one claim after the other, each with the next epoch, each ended before the next began.
    const entries = about(await readLedger(world), 'T1').slice(1);
    expect(typesOf(entries)).toEqual(Array.from({ length: rounds }, () => ['TaskClaimed', 'ClaimReleased']).flat());
    const epochs = Array.from({ length: 2 * rounds }, (_, i) => 1 + (i >> 1));
    expect(entries.map(({ data }) => data['epoch'])).toEqual(epochs);
    const holders = entries.filter((_, i) => i % 2 === 0).map(({ data }) => data['holder']);
    expect(holders).toEqual(winners.map((i) => `p${i}`));
    // It was a race: no process has won every round.
    expect(new Set(winners).size).toBeGreaterThan(1);
    expect(await findLedgerFault(world)).toBeUndefined();
  }, 120_000);
}

function isTaken(answer: Answer): boolean {
  return (
    !answer.ok && answer.error.code === 'already-claimed' && /^task T1 is claimed by p\d+$/.test(answer.error.message)
  );
}
