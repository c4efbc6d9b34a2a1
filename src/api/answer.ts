import type { Problem } from '../protocol/shape/problem.ts';

/** The answer on every surface: a result, or an error with a code, a message and the next step. */
export type Answer<R = unknown> =
  | {
      readonly ok: true;
      readonly result: R;
      /** Sent with a read while the database is unavailable: the result is as of that time. */
      readonly store?: { readonly away_since: string };
    }
  | { readonly ok: false; readonly error: ApiError };

export type OrError<T extends object> = ({ readonly ok: true } & T) | { readonly ok: false; readonly error: ApiError };

export interface ApiError {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  /** All problems of a file, if there are several. The message lists them too. */
  readonly problems?: readonly FileProblem[];
  /** The runbook that loosens the rules in force: its hash, which an operator must name, and the differences. */
  readonly rules?: { readonly sha256: string; readonly differences: readonly object[] };
}

export interface FileProblem extends Problem {
  /** As shown to people: `baton.toml`. */
  readonly file: string;
}

/** The HTTP status of each error code. All other codes are refusals by a task's rules: 409. */
export const ERROR_STATUS: Readonly<Record<string, number>> = {
  'bad-request': 400,
  'no-token': 401,
  'bad-token': 401,
  forbidden: 403,
  'bad-host': 403,
  'bad-origin': 403,
  'bad-signature': 403,
  'bad-page-key': 401,
  'bad-page-code': 403,
  'other-user': 403,
  'stale-request': 403,
  'replayed-request': 403,
  'below-session': 403,
  'no-pass': 403,
  'bad-pass': 403,
  'webhook-off': 404,
  'no-such-handoff': 404,
  'bad-runbook': 400,
  'runbook/usage': 400,
  'credential-in-plan': 400,
  'no-such-task': 404,
  'no-such-agent': 404,
  'no-such-pipeline': 404,
  'no-such-decision': 404,
  'no-such-run': 404,
  'no-such-host': 404,
  'no-such-page-key': 404,
  'no-such-operation': 404,
  'no-such-project': 404,
  'no-such-path': 404,
  'bad-method': 405,
  'too-large': 413,
  'rate-limited': 429,
  internal: 500,
  'store-unavailable': 503,
  'project-busy': 503,
  'writeback-failed': 503,
  stopping: 503,
};
