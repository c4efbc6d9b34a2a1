import { stripVTControlCharacters } from 'node:util';
import { firstCharacters } from '../protocol/shape/problem.ts';

/** A way to reach a person. Failures are values: an unreachable chat must not fail any work. */
export interface NotificationChannel {
  readonly name: 'desktop' | 'terminal' | 'webhook';
  readonly send: (notification: Notification) => Promise<SendResult>;
}

export interface Notification {
  /** An id that is the same for repeated deliveries. */
  readonly id: string;
  readonly kind: 'attention' | 'warning' | 'done' | 'failed';
  readonly title: string;
  readonly message: string;
  readonly url?: string;
}

export type SendResult = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Removes escape sequences, control characters and direction marks, and shortens the text to a limit. */
export function plainText(text: string, maxCharacters: number): string {
  const plain = stripVTControlCharacters(text.slice(0, 16 * maxCharacters))
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\t', ' ')
    .replaceAll(/[^\P{C}\n]/gu, '')
    .trim();
  const fits = plain.length <= maxCharacters || firstCharacters(plain, maxCharacters) === plain;
  return fits ? plain : `${firstCharacters(plain, maxCharacters - 1)}…`;
}

export function plainLine(text: string, maxCharacters: number): string {
  return plainText(text.replaceAll(/\s+/g, ' '), maxCharacters);
}

/** Escapes text for desktops and Slack, which interpret `<` and `&`. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export const NOTIFICATION_LIMITS = { titleCharacters: 200, messageCharacters: 2000 } as const;
