import type { Answer, ApiError } from '../../api/answer.ts';
import type { OperationName } from '../../api/operations/registry.ts';
import type { PastView } from '../model/ledger/past-view.ts';
import type { StateViews } from '../model/state-views.ts';
import type { CheckedFile } from './check-file.ts';

/** What tabs and the hub send each other. The hub is one worker for all tabs of a browser: one connection, one event stream, one folded state. */
export type ToHub =
  /** `code` and `daemonKey` come from the address that `baton web` opened. */
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
  /** The id of a project; left out for operations that concern all. */
  readonly project?: string;
  readonly operation: OperationName;
  readonly input: object;
  /** A repeat with the same key happens once. */
  readonly key?: string;
}

/** What a tab wants to see, and goes on seeing: an answer of the daemon, or a view of the state that the hub folds. */
export type Query = ApiQuery | StateQuery;

export interface ApiQuery {
  readonly kind: 'api';
  readonly project?: string;
  readonly operation: OperationName;
  readonly input: object;
  /** Asked again after an entry about this; `all` means after every entry. Left out: once, and whenever the daemon comes back. */
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

/** A value with its age. A value that cannot be brought up to date stays, with the error beside it. */
export interface Loaded<T> {
  readonly value?: T;
  /** When the daemon gave it, in milliseconds since 1970. */
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

/** How far the page itself has verified the chain, its hashes and its signatures. */
export interface Verified {
  readonly to: number;
  readonly isRunning: boolean;
  /** When it last got further, in milliseconds since 1970. */
  readonly at?: number;
  /** The keys that signed it, oldest first. */
  readonly keys?: readonly string[];
  readonly broken?: BrokenChain;
  /** Why it does not continue for now: the daemon gave no answer. */
  readonly paused?: ApiError;
}

/** The first entry that does not fit, and why. */
export interface BrokenChain {
  readonly seq: number;
  readonly code: string;
  readonly message: string;
  readonly expected?: string;
  readonly found?: string;
  /** The chain contradicts what this browser verified before. */
  readonly isRewritten?: boolean;
}

/**
 * `on`: what is new. `again`: from the first entry, and what was verified before must be found again. `forget`: from the first entry, as if
 * this browser had never verified it.
 */
export type VerifyHow = 'on' | 'again' | 'forget';

/** Work that takes a while, reports how far it is, and can be stopped. */
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
  /** `at`: the daemon's last sign of life. */
  | { readonly kind: 'live'; readonly at: number }
  | { readonly kind: 'away'; readonly why: AwayReason; readonly since: number; readonly shownAt: number | undefined }
  /** The page has no key that counts. */
  | { readonly kind: 'locked'; readonly why: string; readonly hint: string };

/** `foreign`: something answers on the page's port, and it is not the daemon that gave this page its key. */
export type AwayReason = 'gone' | 'hung' | 'foreign' | 'failing';
