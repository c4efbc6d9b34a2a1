import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { ApiError } from '../../api/answer.ts';
import { isEqualSecret, readBody } from '../../api/http/request.ts';
import { sendAnswer } from '../../api/http/respond.ts';
import { checkOutcome } from '../../github/checks.ts';
import { fieldOf } from '../../protocol/shape/read-unknown.ts';
import { decide } from '../../state/decide.ts';
import { event } from '../../state/event.ts';
import type { Outcome } from '../../state/outcome.ts';
import type { State } from '../../state/state.ts';
import type { CheckOutcome } from '../../state/workflow/workflow-event.ts';
import type { Log } from '../log.ts';
import type { Services } from '../operations/call.ts';
import type { Project } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';

export const WEBHOOK_PATH = '/webhooks/github';

export interface WebhookOptions {
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly projects: Projects;
  readonly log: Log;
}

/**
 * `POST /webhooks/github`: GitHub reports a check of a commit. The request carries no token of Baton: an HMAC over the
 * body proves its origin, and each delivery counts once.
 */
export async function handleWebhook(
  request: IncomingMessage,
  response: ServerResponse,
  options: WebhookOptions,
): Promise<void> {
  const refuse = (error: ApiError): void => sendAnswer(response, { ok: false, error }, { closes: true });
  const secret = findSecret(options);
  if (secret === undefined) return refuse(WEBHOOK_OFF);
  const body = await readBody(request);
  if (body === 'gone') return;
  if (!body.ok) return refuse(body.error);
  const { headers } = request;
  if (!isSigned(body.bytes, headers['x-hub-signature-256'], secret)) {
    options.log.info('refused', { code: BAD_SIGNATURE.code, path: WEBHOOK_PATH });
    return refuse(BAD_SIGNATURE);
  }
  const [delivery, event] = [headers['x-github-delivery'], headers['x-github-event']];
  if (typeof delivery !== 'string' || !/^[\w-]{1,100}$/.test(delivery) || typeof event !== 'string')
    return refuse(NO_DELIVERY);
  const report = parseReport(event, body.bytes);
  if (!report.ok) return refuse(report.error);
  if (report.value === undefined) return sendAnswer(response, { ok: true, result: { taken: 0 } });
  const taken = await reportToProjects(report.value, { delivery, event }, options);
  return typeof taken === 'number' ? sendAnswer(response, { ok: true, result: { taken } }) : refuse(taken);
}

/** Returns how many checks were waiting for the report. Projects without such a check record nothing. */
async function reportToProjects(
  report: GithubReport,
  about: { readonly delivery: string; readonly event: string },
  { projects }: WebhookOptions,
): Promise<number | ApiError> {
  let taken = 0;
  for (const { project, services } of projects.opened()) {
    const outcome = await reportCheck(project, services, report, about);
    if (typeof outcome !== 'number') return outcome;
    taken += outcome;
  }
  return taken;
}

function findSecret({ env, stateDir }: WebhookOptions): string | undefined {
  const given = env['BATON_GITHUB_WEBHOOK_SECRET'];
  if (given !== undefined && given !== '') return given;
  try {
    return readFileSync(join(stateDir, 'github-webhook.secret'), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

function isSigned(body: Uint8Array, given: string | string[] | undefined, secret: string): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return typeof given === 'string' && isEqualSecret(given, expected);
}

const WEBHOOK_OFF: ApiError = {
  code: 'webhook-off',
  message: 'this daemon accepts no webhooks of GitHub: it has no secret for them',
  hint: 'Put the secret into BATON_GITHUB_WEBHOOK_SECRET, or into github-webhook.secret in the state folder.',
};
const BAD_SIGNATURE: ApiError = {
  code: 'bad-signature',
  message: 'the signature does not match the secret',
  hint: 'Give the webhook at GitHub the same secret as this daemon.',
};
const NO_DELIVERY: ApiError = {
  code: 'bad-request',
  message: 'X-GitHub-Delivery or X-GitHub-Event is missing',
  hint: 'Send it as GitHub does.',
};

interface GithubReport {
  readonly name: string;
  readonly sha: string;
  readonly outcome: CheckOutcome;
  readonly url: string | null;
}

type ParsedReport =
  | {
      readonly ok: true;
      /** Undefined if the event reports no finished check. */ readonly value: GithubReport | undefined;
    }
  | { readonly ok: false; readonly error: ApiError };

/** Reads completed `workflow_run` and `check_run` events; the name is that of the workflow or the check. */
function parseReport(event: string, body: Uint8Array): ParsedReport {
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

function malformed(message: string): ParsedReport {
  return { ok: false, error: { code: 'bad-request', message, hint: 'Send it as GitHub does.' } };
}

/**
 * Returns how many checks of this project were waiting for the report: same commit, same name, and not run by Baton.
 */
async function reportCheck(
  { commandLoop }: Project,
  { newId }: Services,
  report: GithubReport,
  about: { readonly delivery: string; readonly event: string },
): Promise<number | ApiError> {
  const key = `github/${about.delivery}`;
  const known = await commandLoop.read(({ state }) => ({
    isKnown: state.settled.has(key),
    waits: findWaitingTasks(state, report).length,
  }));
  if (!known.ok) return STORE_UNAVAILABLE;
  if (known.answer.isKnown) return ALREADY_DELIVERED;
  if (known.answer.waits === 0) return 0;
  const settled = await commandLoop.submit<{ taken: number }>({
    actor: 'system:ci',
    key,
    decide: ({ state, rules }) => {
      const events = findWaitingTasks(state, report).flatMap((checks_id) => {
        const output = `GitHub: ${report.outcome}${report.url === null ? '' : ` ${report.url}`}`;
        const command = {
          checks_id,
          name: report.name,
          outcome: report.outcome,
          exit_code: null,
          log: null,
          output,
          handoffId: newId(),
        };
        const outcome = decide(state, { kind: 'finish-check', command }, { kind: 'system', name: 'ci' }, rules);
        return outcome.ok ? outcome.events : [];
      });
      const received = event('WebhookReceived', {
        delivery_id: about.delivery,
        source: 'github',
        event: about.event.slice(0, 100),
      });
      const outcome: Outcome<{ taken: number }> = {
        ok: true,
        events: [received, ...events],
        answer: { taken: events.length === 0 ? 0 : 1 },
      };
      return outcome;
    },
  });
  return settled.ok ? settled.answer.taken : STORE_UNAVAILABLE;
}

function findWaitingTasks({ tasks }: State, { name, sha }: GithubReport): string[] {
  return [...tasks.values()].flatMap(({ flow: { checks } }) => {
    const isAsked = checks?.plans.some((plan) => plan.name === name && plan.run === undefined) === true;
    return checks !== null && checks.head === sha && checks.outcome === null && isAsked ? [checks.id] : [];
  });
}

const ALREADY_DELIVERED: ApiError = {
  code: 'webhook-replayed',
  message: 'this delivery was already processed',
  hint: 'Have GitHub deliver newer events.',
};
const STORE_UNAVAILABLE: ApiError = {
  code: 'store-unavailable',
  message: 'the store does not answer',
  hint: 'GitHub can deliver it again.',
};
