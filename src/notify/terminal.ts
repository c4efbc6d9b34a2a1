import { type Notification, NOTIFICATION_LIMITS, type NotificationChannel, plainLine } from './channel.ts';

/**
 * A daemon has no terminal: `baton status --watch` shows its notifications with a bell. This channel only prints a line
 * if the daemon runs in the foreground, and never fails.
 */
export function terminalChannel({ say }: { readonly say?: (line: string) => void }): NotificationChannel {
  return {
    name: 'terminal',
    send: async (notification) => {
      say?.(`${renderNotificationLine(notification)}\n`);
      return { ok: true };
    },
  };
}

export function renderNotificationLine(notification: Pick<Notification, 'title' | 'message' | 'url'>): string {
  const { title, message, url } = notification;
  const { titleCharacters, messageCharacters } = NOTIFICATION_LIMITS;
  const parts = [plainLine(title, titleCharacters), plainLine(message, messageCharacters), url ?? ''];
  return parts.filter((part) => part !== '').join(': ');
}

/**
 * OSC 9 becomes a desktop notification in iTerm2, WezTerm, kitty, Ghostty and Windows Terminal; others use the bell.
 * Terminals that support neither ignore both.
 */
export function renderBell(notification: Pick<Notification, 'title' | 'message'>): string {
  // Starts with "Baton", because some terminals take a leading number for another command.
  return `\u001B]9;Baton: ${renderNotificationLine(notification)}\u0007\u0007`;
}
