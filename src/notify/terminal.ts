import { type Notification, NOTIFICATION_LIMITS, type NotificationChannel, plainLine } from './channel.ts';

/**
 * A channel that prints a line if the daemon runs in the foreground, and never fails. A background daemon has no
 * terminal: `baton status --watch` shows its notifications with a bell.
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
 * Renders OSC 9, which becomes a desktop notification in iTerm2, WezTerm, kitty, Ghostty and Windows Terminal, and a
 * bell for other terminals. Terminals that support neither ignore both.
 */
export function renderBell(notification: Pick<Notification, 'title' | 'message'>): string {
  // The text starts with "Baton", because some terminals read a leading number as another command.
  return `\u001B]9;Baton: ${renderNotificationLine(notification)}\u0007\u0007`;
}
