import type { ApiError } from '../../api/answer.ts';
import { checkOutcome } from '../../github/conclusion.ts';
import type { CheckOutcome } from '../../state/workflow/workflow-event.ts';

/** What GitHub says about one check of one commit. */
export interface GithubReport {
  readonly name: string;
  readonly sha: string;
  readonly outcome: CheckOutcome;
  readonly url: string | null;
}

export type ParsedReport =
  | {
      readonly ok: true;
      /** Undefined: an event that says nothing about a check that has ended. */ readonly value:
        | GithubReport
        | undefined;
    }
  | { readonly ok: false; readonly error: ApiError };

/** `workflow_run` and `check_run` that are completed; the name is that of the workflow, or of the check. */
export function parseReport(event: string, body: Uint8Array): ParsedReport {
  let payload: unknown;
  try {
    payload = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    return malformed('the body is not JSON');
  }
  if (event !== 'workflow_run' && event !== 'check_run') return { ok: true, value: undefined };
  if (fieldOf(payload, 'action') !== 'completed') return { ok: true, value: undefined };
  const run = fieldOf(payload, event);
  const [name, sha, conclusion, url] = ['name', 'head_sha', 'conclusion', 'html_url'].map((field) =>
    fieldOf(run, field),
  );
  if (typeof name !== 'string' || name === '') return malformed(`${event}.name is missing`);
  if (typeof sha !== 'string' || !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(sha))
    return malformed(`${event}.head_sha is not a commit`);
  const outcome = checkOutcome(conclusion);
  return { ok: true, value: { name, sha, outcome, url: typeof url === 'string' ? url.slice(0, 500) : null } };
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}

function malformed(message: string): ParsedReport {
  return { ok: false, error: { code: 'bad-request', message, hint: 'Send it as GitHub does.' } };
}
