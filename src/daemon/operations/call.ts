import type { LoopMeasure } from '../../api/proofs.ts';
import type { Caller } from '../../state/caller.ts';
import type { GitPort } from './git-port.ts';
import type { Log } from '../log.ts';
import type { Project } from '../project/project.ts';
import type { Rulebook } from '../rules/rulebook.ts';
import type { RunbookWatch } from '../rules/runbook-watch.ts';

/** One call of one operation, with everything that it may look at. */
export interface Call<I = unknown> {
  readonly project: Project;
  readonly input: I;
  readonly caller: Caller;
  readonly services: Services;
  /** A retry with the same key gets the first answer. */
  readonly key?: string;
  /** It comes from the outbox, in its turn. */
  readonly isKept?: boolean;
  /** Aborted when the caller has gone away. */
  readonly signal?: AbortSignal;
}

/** What calls need besides their project: chance, secrets and git come from outside. */
export interface Services {
  readonly newId: () => string;
  readonly issueToken: (session: { sessionId: string; taskId: string; epoch: number; project: string }) => string;
  readonly git: GitPort;
  /** The working file: what operators start, and what has no part in a gate. */
  readonly runbook: RunbookWatch;
  /** The adopted runbooks: what gates, merges and workers go by. */
  readonly rulebook: Rulebook;
  /** The project's flag for exit signals: see `exitProtocolEnabled`; sessions of the built-in workflow go by `usesExitProtocol`. */
  readonly exitProtocol: boolean;
  readonly log: Log;
  /** The daemon's own. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly monotonicMs: () => number;
  /** Whether the daemon's event loop turns. */
  readonly loop: LoopMeasure;
  readonly now: () => Date;
}
