import { type Notification, NOTIFICATION_LIMITS, type NotificationChannel, plainLine } from './channel.ts';

/**
 * A daemon has no terminal of its own: what it records is shown, with a bell, wherever `baton status --watch` runs. So this channel
 * has nothing to do but to say a line where the daemon itself was started in a terminal; it is always there and never fails.
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

/** A notification as one line of text. */
export function renderNotificationLine({
  title,
  message,
  url,
}: Pick<Notification, 'title' | 'message' | 'url'>): string {
  const { titleCharacters, messageCharacters } = NOTIFICATION_LIMITS;
  const parts = [plainLine(title, titleCharacters), plainLine(message, messageCharacters), url ?? ''];
  return parts.filter((part) => part !== '').join(': ');
}

/**
 * What makes a terminal call its owner: OSC 9 becomes a notification of the desktop in those that know it (iTerm2, WezTerm, kitty,
 * Ghostty, Windows Terminal), the bell does in the others. Terminals that know neither ignore both.
 */
export function renderBell(notification: Pick<Notification, 'title' | 'message'>): string {
  // "Baton" comes first: a text that begins with a number would be another command of some terminals.
  return `\u001B]9;Baton: ${renderNotificationLine(notification)}\u0007\u0007`;
}
