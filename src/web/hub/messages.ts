import type { Answer, ApiError } from '../../api/answer.ts';
import type { OperationName } from '../../api/operations/registry.ts';
import type { PastView } from '../model/ledger/past-view.ts';
import type { StateViews } from '../model/state-views.ts';
import type { CheckedFile } from './check-file.ts';

/**
 * The messages between tabs and the hub. The hub is one worker for all tabs of a browser: one connection, one event
 * stream, one folded state.
 */
export type ToHub =
  /** `code` and `daemonKey` are from the address that `baton web` opened. */
  | { readonly kind: 'hello'; readonly code?: string; readonly daemonKey?: string }
  | { readonly kind: 'watch'; readonly id: number; readonly query: Query }
  | { readonly kind: 'unwatch'; readonly id: number }
  | { readonly kind: 'call'; readonly id: number; readonly call: HubCall }
  | { readonly kind: 'verify'; readonly project: string; readonly how: VerifyHow }
  | { readonly kind: 'job'; readonly id: number; readonly job: Job }
  | { readonly kind: 'stop'; readonly id: number }
  | { readonly kind: 'bye' };

export type FromHub =
  | { readonly kind: 'standing'; readonly standing: Standing }
  | { readonly kind: 'loaded'; readonly id: number; readonly loaded: Loaded<unknown> }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'report'; readonly id: number; readonly report: JobReport };

export interface HubCall {
  /** A project's id; absent for operations that concern all projects. */
  readonly project?: string;
  readonly operation: OperationName;
  readonly input: object;
  /** The idempotency key: a repeat with the same key has no second effect. */
  readonly key?: string;
}

/** A subscription of a tab: to an answer of the daemon, or to a view of the state that the hub folds. */
export type Query = ApiQuery | StateQuery;

export interface ApiQuery {
  readonly kind: 'api';
  readonly project?: string;
  readonly operation: OperationName;
  readonly input: object;
  /**
   * The request is repeated after an entry about this topic; `all` means after every entry. Absent: it is sent once,
   * and whenever the daemon is back.
   */
  readonly on?: Topic;
  readonly everyMs?: number;
}

interface StateQuery {
  readonly kind: 'state';
  readonly project: string;
  readonly view: keyof StateViews;
  readonly params: object;
}

export type Topic =
  | 'all'
  | 'projects'
  | `task:${string}`
  | `agent:${string}`
  | `pipeline:${string}`
  | `decision:${string}`;

/** A value with its age. If it cannot be updated, it stays, with the error beside it. */
export interface Loaded<T> {
  readonly value?: T;
  /** When the daemon sent it, in milliseconds since 1970. */
  readonly at?: number;
  readonly error?: ApiError;
}

export interface Standing {
  readonly link: Link;
  readonly projects: readonly ProjectStanding[];
  /** The name of this page's key, as `baton web keys` lists it. */
  readonly keyName?: string;
}

export interface ProjectStanding {
  readonly id: string;
  readonly seq: number;
  readonly verified: Verified;
}

/** How far this page has verified the chain, its hashes and its signatures. */
export interface Verified {
  readonly to: number;
  readonly isRunning: boolean;
  /** The time of the last progress, in milliseconds since 1970. */
  readonly at?: number;
  /** The keys that signed the chain, oldest first. */
  readonly keys?: readonly string[];
  readonly broken?: BrokenChain;
  /** Why verification is paused: the daemon did not answer. */
  readonly paused?: ApiError;
}

/** The first invalid entry, and the reason. */
export interface BrokenChain {
  readonly seq: number;
  readonly code: string;
  readonly message: string;
  readonly expected?: string;
  readonly found?: string;
  /** Set if the chain contradicts what this browser verified before. */
  readonly isRewritten?: boolean;
}

/**
 * `on`: new entries. `again`: from the first entry, which must include what was verified before. `forget`: from the
 * first entry, as if this browser had never verified it.
 */
export type VerifyHow = 'on' | 'again' | 'forget';

/** A longer job that reports its progress and can be stopped. */
export type Job =
  | { readonly kind: 'check-file'; readonly file: Blob }
  | { readonly kind: 'state-at'; readonly project: string; readonly seq: number };

export interface JobResults {
  readonly 'check-file': CheckedFile;
  readonly 'state-at': Answer<PastView>;
}

export type JobReport =
  | { readonly isDone: false; readonly done: number; readonly of: number }
  | { readonly isDone: true; readonly result: unknown };

export type Link =
  | { readonly kind: 'starting' }
  /** `at`: the time of the daemon's last pulse. */
  | { readonly kind: 'live'; readonly at: number }
  | { readonly kind: 'away'; readonly why: AwayReason; readonly since: number; readonly shownAt: number | undefined }
  /** The page has no valid key. */
  | { readonly kind: 'locked'; readonly why: string; readonly hint: string };

/** `foreign`: a program answers on the page's port that is not the daemon which gave this page its key. */
export type AwayReason = 'gone' | 'hung' | 'foreign' | 'failing';
