import { flag, list, nullable, text, whole } from '../../protocol/shape/build-shape.ts';

/**
 * The entries about the hosts of a project on PostgreSQL, its caretaker, and work that was pushed to the remote. A
 * project on SQLite has only those about its ledger's keys.
 */
export const FLEET_EVENTS = {
  /**
   * `root_commit`: the first commit of the repository, which every host must have. `remote`: the remote that hosts
   * share work through; null while there is only one host.
   */
  FleetFounded: { host: text, root_commit: nullable(text), remote: nullable(text) },
  /**
   * `key` is the fingerprint, `public_key` the key in the form of `KeyAdded`. Recorded again if labels or agents
   * change.
   */
  HostJoined: { host: text, key: text, public_key: text, labels: list(text), agents: whole, by: text },
  /** A draining host gets no new work; running work ends normally. */
  HostDrained: { host: text, draining: flag, by: text },
  HostRemoved: { host: text, reason: text, by: text },
  /** Also written by the ledger itself, for its first key. */
  KeyAdded: { key: text },
  /** The key is no longer trusted after this entry's commit. */
  KeyRevoked: { key: text },
  /** Outcomes with an older term are refused. */
  CaretakerChanged: { host: text, term: whole },
  /** Every live host can read the entries up to this level. */
  LevelRaised: { level: whole },
  RemoteChanged: { remote: text, by: text },
  /**
   * `sha`: the head of the session's branch, at `refs/baton/TASK/EPOCH`. `wip`: the commit with the uncommitted work,
   * if there was any.
   */
  WorkPushed: { task_id: text, epoch: whole, host: text, sha: text, wip: nullable(text) },
  WorkPushFailed: { task_id: text, epoch: whole, host: text, sha: nullable(text), reason: text },
  /**
   * The owner of the database moved `rows` rows after this entry into `baton.quarantine`. No trusted key had signed
   * them.
   */
  StoreRepaired: { size: whole, hash: text, rows: whole, by: text },
  /** An operator accepted this chain although another one had been seen, which differs from `differs_at` on. */
  StoreAccepted: { size: whole, hash: text, differs_at: whole, by: text },
} as const;
