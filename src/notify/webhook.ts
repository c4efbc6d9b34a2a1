import querystring from 'node:querystring';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  escapeMarkup,
  type Notification,
  NOTIFICATION_LIMITS,
  type NotificationChannel,
  plainLine,
  plainText,
  type SendResult,
} from './channel.ts';

export interface WebhookTimes {
  readonly timeoutMs: number;
  /** The wait before the first retry; doubled for each further one. */
  readonly backoffMs: number;
  readonly giveUpMs: number;
}

const TIMES: WebhookTimes = { timeoutMs: 10_000, backoffMs: 1000, giveUpMs: 120_000 };

/**
 * Posts `{"text": …}`, the format of Slack and Mattermost. Retries if the receiver is busy or unreachable; the header
 * `Baton-Notification-Id` identifies repeats. Redirects are not followed. The URL is a secret, so failure reasons name
 * only its host.
 */
export function webhookChannel(address: string, times: WebhookTimes = TIMES): NotificationChannel {
  const target = parseTarget(address);
  return {
    name: 'webhook',
    send: async (notification) =>
      target === undefined ? BAD_ADDRESS : sendBeforeDeadline(target, notification, times),
  };
}

interface Target {
  readonly url: string;
  readonly host: string;
  readonly headers: Readonly<Record<string, string>>;
}

const BAD_ADDRESS: SendResult = { ok: false, reason: 'the address of the webhook is not an http or https address' };

function parseTarget(address: string): Target | undefined {
  const url = URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  const { username, password, host } = url;
  url.username = '';
  url.password = '';
  return { url: url.href, host, headers: username === '' ? {} : { authorization: basicLogin(username, password) } };
}

/** The header for credentials in the URL, because `fetch` refuses such URLs. */
function basicLogin(username: string, password: string): string {
  const plain = [username, password].map((part) => querystring.unescape(part)).join(':');
  return `Basic ${Buffer.from(plain).toString('base64')}`;
}

async function sendBeforeDeadline(target: Target, sent: Notification, times: WebhookTimes): Promise<SendResult> {
  const until = performance.now() + times.giveUpMs;
  for (let backoffMs = times.backoffMs; ; backoffMs *= 2) {
    const tried = await post(target, sent, times.timeoutMs);
    if (tried.ok) return { ok: true };
    const waitMs = Math.max(backoffMs, tried.waitMs ?? 0);
    if (!tried.isPassing || performance.now() + waitMs > until) return { ok: false, reason: tried.reason };
    await sleep(waitMs);
  }
}

type Tried =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly isPassing: boolean; readonly waitMs?: number | undefined };

async function post({ url, host, headers }: Target, notification: Notification, timeoutMs: number): Promise<Tried> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'baton-notification-id': notification.id,
        'baton-notification-kind': notification.kind,
      },
      body: JSON.stringify({ text: slackText(notification) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (response.ok) return { ok: true };
    const { status } = response;
    const isRedirect = status >= 300 && status < 400;
    const reason = `${host} answered ${status}${isRedirect ? ' (redirects are not followed)' : ''}`;
    const waitMs = parseRetryAfter(response.headers.get('retry-after'), Date.now());
    return { ok: false, reason, isPassing: status >= 500 || status === 429, waitMs };
  } catch (error) {
    return { ok: false, reason: `${host}: ${describeFailure(error, timeoutMs)}`, isPassing: true };
  }
}

/** Describes an error by its code, because its message may contain the URL. */
function describeFailure(error: unknown, timeoutMs: number): string {
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer within ${timeoutMs} ms`;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : 'not reached';
}

function slackText({ title, message, url }: Notification): string {
  const lines = [
    `*${escapeMarkup(plainLine(title, NOTIFICATION_LIMITS.titleCharacters))}*`,
    escapeMarkup(plainText(message, NOTIFICATION_LIMITS.messageCharacters)),
    url === undefined ? '' : escapeMarkup(url),
  ];
  return lines.filter((line) => line !== '').join('\n');
}

/** The wait that a `Retry-After` header asks for, in seconds or as a date. */
export function parseRetryAfter(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
