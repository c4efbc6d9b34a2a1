import * as operations from '../../../api/operations/fleet.ts';
import { toHex } from '../../../ledger/format/bytes.ts';
import { findHash } from '../../../ledger/store.ts';
import { actorOf } from '../../../state/caller.ts';
import { refusal } from '../../../state/outcome.ts';
import { answerFor, handlerFor, refusalOf, submitCommand } from '../call.ts';

export const STORE_HANDLERS = {
  store_accept: handlerFor(operations.storeAccept, async (call) => {
    const { size, hash, differs_at } = call.input;
    const found = await findHash(call.project.ledger.store, size);
    if (found === undefined || toHex(found) !== hash) return refusalOf(refuseOtherChain(size));
    const command = { size, hash, differs_at, by: actorOf(call.caller) };
    const settled = await submitCommand(call, { kind: 'accept-store', command });
    return answerFor(settled, () => ({ size, hash }));
  }),
};

function refuseOtherChain(size: number): ReturnType<typeof refusal> {
  const message = `entry ${size} of this ledger is not the one that was accepted`;
  return refusal('wrong-store', message, 'See what the database has now: baton store accept');
}
