import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { ApiError } from '../../api/answer.ts';
import { parseReport, type GithubReport } from './github-report.ts';
import type { Log } from '../log.ts';
import type { Projects } from '../project/projects.ts';
import { readBody } from './request-body.ts';
import { reportCheck } from './report-check.ts';
import { sendAnswer } from './respond.ts';

export const WEBHOOK_PATH = '/webhooks/github';

export interface WebhookOptions {
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly projects: Projects;
  readonly log: Log;
}

/**
 * `POST /webhooks/github`: what GitHub says about a check of a commit. It needs no token of ours; the HMAC over the body, with a secret
 * that only GitHub and this daemon know, says that it is GitHub's, and each delivery counts once.
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

/** How many checks waited for it; projects that wait for no such check hear nothing of it. */
async function reportToProjects(
  report: GithubReport,
  about: { readonly delivery: string; readonly event: string },
  { projects }: WebhookOptions,
): Promise<number | ApiError> {
  let taken = 0;
  for (const { project, services } of projects.opened()) {
    const told = await reportCheck(project, services, report, about);
    if (typeof told !== 'number') return told;
    taken += told;
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
  if (typeof given !== 'string' || given.length !== expected.length) return false;
  return timingSafeEqual(Buffer.from(given), Buffer.from(expected));
}

const WEBHOOK_OFF: ApiError = {
  code: 'webhook-off',
  message: 'this daemon takes no webhooks of GitHub: it has no secret for them',
  hint: 'Put the secret into BATON_GITHUB_WEBHOOK_SECRET, or into github-webhook.secret in the state folder.',
};
const BAD_SIGNATURE: ApiError = {
  code: 'bad-signature',
  message: 'the signature is not that of the secret',
  hint: 'Give the webhook at GitHub the same secret as this daemon.',
};
const NO_DELIVERY: ApiError = {
  code: 'bad-request',
  message: 'X-GitHub-Delivery or X-GitHub-Event is missing',
  hint: 'Send it as GitHub does.',
};
