import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { readFileIfPresent } from '../../api/files.ts';
import { isEqualSecret, readBody } from '../../api/http/request.ts';
import { sendAnswer } from '../../api/http/respond.ts';
import { checkOutcome, GITHUB_ACTIONS } from '../../github/checks.ts';
import { parseRemoteUrl, renderRepository } from '../../github/find-github.ts';
import { fieldOf } from '../../protocol/shape/read-unknown.ts';
import { decide } from '../../state/decide.ts';
import { event } from '../../state/event.ts';
import type { State } from '../../state/state.ts';
import { isForeignReport } from '../../state/workflow/checks.ts';
import type { CheckReport } from '../../state/workflow/judge-report.ts';
import type { CheckOutcome } from '../../state/workflow/workflow-event.ts';
import type { Log } from '../log.ts';
import type { Services } from '../operations/call.ts';
import type { Project } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import { type Refusal, refusal } from './refusals.ts';

export const WEBHOOK_PATH = '/webhooks/github';

export interface WebhookOptions {
  readonly stateDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly projects: Projects;
  readonly log: Log;
}

/**
 * Handles GitHub's report of a check. An HMAC over the body proves its origin instead of a token, and each delivery
 * counts once.
 */
export async function handleWebhook(
  request: IncomingMessage,
  response: ServerResponse,
  options: WebhookOptions,
): Promise<void> {
  const refuse = (refused: Refusal): void => sendAnswer(response, refused, { closes: true });
  const secret = findSecret(options);
  if (secret === undefined) return refuse(WEBHOOK_OFF);
  const body = await readBody(request);
  if (body === 'gone') return;
  if (!body.ok) return refuse(body);
  const { headers } = request;
  if (!isSigned(body.bytes, headers['x-hub-signature-256'], secret)) {
    options.log.info('refused', { code: BAD_SIGNATURE.error.code, path: WEBHOOK_PATH });
    return refuse(BAD_SIGNATURE);
  }
  const [delivery, event] = [headers['x-github-delivery'], headers['x-github-event']];
  if (typeof delivery !== 'string' || !/^[\w-]{1,100}$/.test(delivery) || typeof event !== 'string')
    return refuse(malformed('X-GitHub-Delivery or X-GitHub-Event is missing'));
  const report = parseReport(event, body.bytes);
  if (!report.ok) return refuse(report);
  if (report.value === undefined) return sendAnswer(response, { ok: true, result: { taken: 0 } });
  const taken = await reportToProjects(report.value, { delivery, event }, options);
  return typeof taken === 'number' ? sendAnswer(response, { ok: true, result: { taken } }) : refuse(taken);
}

/** Returns how many checks waited for the report. A project without such a check records nothing. */
async function reportToProjects(
  report: GithubReport,
  about: { readonly delivery: string; readonly event: string },
  { projects, log }: WebhookOptions,
): Promise<number | Refusal> {
  const outcomes: (number | Refusal)[] = [];
  for (const { project, services } of projects.opened())
    outcomes.push(await reportCheck(project, services, report, about, () => logIgnored(log, project, report)));
  return combineOutcomes(outcomes);
}

/** Names the setting with which reports such as this one count, once for each source of a check. */
function logIgnored(log: Log, project: Project, { name, report: { reporter } }: GithubReport): void {
  const { repository, app } = reporter;
  const known = IGNORED.get(project) ?? new Set();
  IGNORED.set(project, known);
  const source = JSON.stringify([name, repository, app]);
  if (known.has(source) || known.size >= MOST_IGNORED) return;
  known.add(source);
  const setting = `ci.required: name = ${JSON.stringify(name)}, repository = "${repository}", app = "${app}"`;
  log.info('ignored a report of a required check: it counts from another repository or app', { setting });
}

const IGNORED = new WeakMap<Project, Set<string>>();
const MOST_IGNORED = 100;

/**
 * Combines what each project did with the report. If one could not record it, the delivery is refused, so that GitHub
 * can deliver it again; the projects that have recorded it ignore the repeat.
 */
export function combineOutcomes(outcomes: readonly (number | Refusal)[]): number | Refusal {
  const refused = outcomes.filter((outcome) => typeof outcome !== 'number');
  const taken = outcomes.reduce<number>((sum, outcome) => (typeof outcome === 'number' ? sum + outcome : sum), 0);
  const failed = refused.find((each) => each !== ALREADY_DELIVERED);
  return failed ?? (taken > 0 ? taken : (refused[0] ?? 0));
}

function findSecret({ env, stateDir }: WebhookOptions): string | undefined {
  const given = env['BATON_GITHUB_WEBHOOK_SECRET'];
  if (given !== undefined && given !== '') return given;
  return readFileIfPresent(join(stateDir, 'github-webhook.secret')).trim() || undefined;
}

function isSigned(body: Uint8Array, given: string | string[] | undefined, secret: string): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return typeof given === 'string' && isEqualSecret(given, expected);
}

const WEBHOOK_OFF = refusal(
  'webhook-off',
  'this daemon accepts no webhooks of GitHub: it has no secret for them',
  'Put the secret into BATON_GITHUB_WEBHOOK_SECRET, or into github-webhook.secret in the state folder.',
);
const BAD_SIGNATURE = refusal(
  'bad-signature',
  'the signature does not match the secret',
  'Give the webhook at GitHub the same secret as this daemon.',
);

interface GithubReport {
  readonly name: string;
  readonly sha: string;
  readonly outcome: CheckOutcome;
  readonly url: string | null;
  readonly report: CheckReport;
}

type ParsedReport = { readonly ok: true; readonly value: GithubReport | undefined } | Refusal;

/** Parses completed `workflow_run` and `check_run` events. The value is undefined for all others. */
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
  const repository = parseRemoteUrl(textOf(fieldOf(fieldOf(payload, 'repository'), 'html_url')));
  if (repository === undefined) return malformed('repository.html_url is not the address of a repository');
  // A workflow run names no app, because only GitHub's own Actions have them.
  const app = event === 'workflow_run' ? GITHUB_ACTIONS : textOf(fieldOf(fieldOf(run, 'app'), 'slug'));
  if (!/^[\w.-]{1,100}$/.test(app)) return malformed('check_run.app.slug is missing');
  const reporter = { repository: renderRepository(repository), app };
  const report = { reporter, conclusion: textOf(conclusion).slice(0, 100) };
  const address = typeof url === 'string' ? url.slice(0, 500) : null;
  return { ok: true, value: { name, sha, outcome: checkOutcome(conclusion), url: address, report } };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function malformed(message: string): Refusal {
  return refusal('bad-request', message, 'Send the delivery as GitHub does.');
}

/**
 * Returns how many checks of this project waited for the report: those with its commit and name that Baton does not run
 * itself.
 */
async function reportCheck(
  { commandLoop }: Project,
  { newId }: Services,
  report: GithubReport,
  about: { readonly delivery: string; readonly event: string },
  onIgnored: () => void,
): Promise<number | Refusal> {
  const { name, outcome, url, report: reported } = report;
  const key = `github/${about.delivery}`;
  const known = await commandLoop.read(({ state }) => ({
    isKnown: state.settled.has(key),
    waits: findWaitingTasks(state, report).length,
  }));
  if (!known.ok) return STORE_UNAVAILABLE;
  if (known.answer.isKnown) return ALREADY_DELIVERED;
  if (known.answer.waits === 0) return 0;
  const settled = await commandLoop.submit<{ taken: number; isForeign?: true }>({
    actor: 'system:ci',
    key,
    decide: ({ state, rules, here }) => {
      const outcomes = findWaitingTasks(state, report).map((checks_id) => {
        const output = `GitHub: ${outcome}${url === null ? '' : ` ${url}`}`;
        const command = {
          checks_id,
          name,
          outcome,
          exit_code: null,
          log: null,
          output,
          handoffId: newId(),
          report: reported,
        };
        return decide(state, { kind: 'finish-check', command }, { kind: 'system', name: 'ci' }, rules, here);
      });
      // A host that may decide nothing must not record the delivery either: GitHub delivers it to another one.
      const refused = outcomes.find((outcome) => !outcome.ok);
      if (refused !== undefined) return refused;
      const events = outcomes.flatMap((outcome) => (outcome.ok ? outcome.events : []));
      // Nothing waited for the report of this repository or app.
      const isForeign = findWaitingTasks(state, report).some((checks_id) =>
        isForeignReport(state, { checks_id, name, report: reported }, rules),
      );
      if (events.length === 0) return { ok: true, events, answer: { taken: 0, ...(isForeign ? { isForeign } : {}) } };
      const received = event('WebhookReceived', {
        delivery_id: about.delivery,
        source: 'github',
        event: about.event.slice(0, 100),
      });
      return { ok: true, events: [received, ...events], answer: { taken: 1 } };
    },
  });
  if (settled.ok && settled.answer.isForeign === true) onIgnored();
  if (settled.ok) return settled.answer.taken;
  return 'refusal' in settled ? { ok: false, error: settled.refusal } : STORE_UNAVAILABLE;
}

function findWaitingTasks({ tasks }: State, { name, sha }: GithubReport): string[] {
  return [...tasks.values()].flatMap(({ flow: { checks } }) => {
    const isAsked = checks?.plans.some((plan) => plan.name === name && plan.run === undefined) === true;
    return checks !== null && checks.head === sha && checks.outcome === null && isAsked ? [checks.id] : [];
  });
}

export const ALREADY_DELIVERED = refusal(
  'webhook-replayed',
  'this delivery was already processed',
  'Have GitHub deliver newer events.',
);
const STORE_UNAVAILABLE = refusal('store-unavailable', 'the store does not answer', 'GitHub can deliver it again.');
