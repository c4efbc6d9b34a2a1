import { stateSnapshot } from '../../../api/operations/ledger.ts';
import { toHex } from '../../../ledger/format/bytes.ts';
import { findHash } from '../../../ledger/store.ts';
import type { Ledger } from '../../../ledger/writer/ledger.ts';
import { publicProjection } from '../../../state/public-projection.ts';
import { handlerFor, refusalOf, unchanged } from '../call.ts';

/** Reads the state after the running commit, because a reader continues from durable entries. */
export const snapshotHandler = handlerFor(stateSnapshot, async ({ project, services }) => {
  const read = await project.commandLoop.submit<Projected>({
    actor: 'system:reader',
    decide: () => unchanged(NOTHING_YET),
    answerAfterCommit: (state) => ({ seq: state.seq, state: publicProjection(state) }),
  });
  if (!read.ok) return refusalOf(read);
  const { seq, state } = read.answer;
  const result = { seq, at: services.now().toISOString(), hash: toHex(await requireHash(project.ledger, seq)), state };
  return { ok: true, result };
});

/** Reads the stored hash: other hosts may have added entries that are not folded yet. */
async function requireHash({ head, store }: Pick<Ledger, 'head' | 'store'>, seq: number): Promise<Uint8Array> {
  const hash = head.size === seq ? head.hash : await findHash(store, seq);
  if (hash === undefined) throw new Error(`entry ${seq} is missing`);
  return hash;
}

interface Projected {
  readonly seq: number;
  readonly state: ReturnType<typeof publicProjection>;
}

const NOTHING_YET: Projected = { seq: 0, state: {} };
