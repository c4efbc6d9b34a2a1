import { originOf } from '../format/checkpoint.ts';
import type { Signer } from '../format/crypto.ts';
import type { Failure, StoreParts } from '../store.ts';
import type { Keyring } from '../verify/keyring.ts';
import type { WalkPosition } from '../verify/walk.ts';
import { headMissing } from '../writer/commit-group.ts';
import { followLedger, keyNotTrusted } from '../writer/recognize.ts';
import { findLoss } from './compare.ts';
import { recognizeReplica, type ReplicaTrust } from './recognize-replica.ts';
import { ReplicaWriter } from './replica-writer.ts';

export type RecognizedShared =
  | {
      readonly ok: true;
      readonly position: WalkPosition;
      readonly keyring: Keyring;
      readonly replica: ReplicaWriter;
    }
  | Failure;

/**
 * Requires that the shared ledger contains this machine's replica. Verifies only newer entries, and adds them to the
 * replica.
 */
export async function recognizeWithReplica(
  what: ReplicaTrust & { readonly signer: Signer },
  parts: StoreParts,
): Promise<RecognizedShared> {
  const { verifier, project, signer } = what;
  const known = await recognizeReplica(parts.replica, what);
  if (!known.ok) return known;
  const replica = new ReplicaWriter(parts, { sha256: verifier.sha256, project, signer }, known.marked);
  let { position, keyring } = known;
  const end = await followLedger({ verifier, project, store: parts.shared }, known, async (commits, keys) => {
    ({ position } = commits);
    keyring = keys;
    replica.add(commits.commit, keys.trusted);
    await replica.whenIdle();
  });
  if (end === 'head-missing') return { ok: false, problem: (await findLoss({ parts })) ?? headMissing(position.head) };
  if (end) return { ok: false, problem: end.problem };
  const own = { name: originOf(project), publicKey: signer.publicKey };
  const isTrusted = position.head.size === 0 || keyring.trusts(own);
  if (!isTrusted) return { ok: false, problem: keyNotTrusted() };
  return { ok: true, position, keyring, replica };
}
