import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { NotificationChannel, Notification } from '../notify/channel.ts';
import type { Events } from '../state/event.ts';

export interface NotificationResult {
  readonly sent: readonly string[];
  readonly failed: readonly { readonly channel: string; readonly reason: string }[];
}

/**
 * Notifies a person on every channel, at most once each. A mark is written before a channel is used; a mark without an
 * outcome is from a daemon that was killed in between. A duplicate notification is worse than one that appears only in
 * `baton status`.
 */
export async function notify(
  { notification_id: id, kind, title, message }: Events['NotificationRequested'],
  { stateDir, channels }: { readonly stateDir: string; readonly channels: readonly NotificationChannel[] },
): Promise<NotificationResult> {
  const folder = marksOf(stateDir, id);
  const sent: string[] = [];
  const failed: { channel: string; reason: string }[] = [];
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const send = async (channel: NotificationChannel): Promise<void> => {
    const mark = join(folder, encodeURIComponent(channel.name));
    const reason = await sendOnce(channel, mark, { id, kind, title, message });
    if (reason === null) sent.push(channel.name);
    else failed.push({ channel: channel.name, reason });
  };
  await Promise.all(channels.map(send));
  return { sent: sent.toSorted(), failed: failed.toSorted((a, b) => (a.channel < b.channel ? -1 : 1)) };
}

export function removeNotificationMarks(stateDir: string, id: string): void {
  rmSync(marksOf(stateDir, id), { recursive: true, force: true });
}

function marksOf(stateDir: string, id: string): string {
  return join(stateDir, 'notifications', id);
}

const TRYING = 'trying';
const SENT = 'sent';

/** Returns why the notification was not sent; null if it was. */
async function sendOnce(
  channel: NotificationChannel,
  mark: string,
  notification: Notification,
): Promise<string | null> {
  if (existsSync(mark)) {
    const before = readFileSync(mark, 'utf8');
    if (before === SENT) return null;
    return before === TRYING || before === '' ? 'the daemon ended while it sent the notification' : before;
  }
  writeFileSync(mark, TRYING, { mode: 0o600, flush: true });
  const result = await channel
    .send(notification)
    .catch((error: unknown) => ({ ok: false, reason: String(error) }) as const);
  writeFileSync(mark, result.ok ? SENT : result.reason, { mode: 0o600 });
  return result.ok ? null : result.reason;
}
