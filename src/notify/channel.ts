import { stripVTControlCharacters } from 'node:util';
import { firstCharacters } from '../protocol/shape/problem.ts';

/** A way to reach a person. A failure is a value: nobody may fail because a chat is down. */
export interface NotificationChannel {
  readonly name: 'desktop' | 'terminal' | 'webhook';
  readonly send: (notification: Notification) => Promise<SendResult>;
}

export interface Notification {
  /** The same in every repeat. */
  readonly id: string;
  readonly kind: 'attention' | 'warning' | 'done' | 'failed';
  readonly title: string;
  readonly message: string;
  /** Where to look. */
  readonly url?: string;
}

export type SendResult = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Text without escape sequences, control characters and marks that turn the direction of writing around; shortened to a limit. */
export function plainText(text: string, maxCharacters: number): string {
  const plain = stripVTControlCharacters(text.slice(0, 16 * maxCharacters))
    .replaceAll(/\r\n?/g, '\n')
    .replaceAll('\t', ' ')
    .replaceAll(/[^\P{C}\n]/gu, '')
    .trim();
  const fits = plain.length <= maxCharacters || firstCharacters(plain, maxCharacters) === plain;
  return fits ? plain : `${firstCharacters(plain, maxCharacters - 1)}…`;
}

/** The same on one line. */
export function plainLine(text: string, maxCharacters: number): string {
  return plainText(text.replaceAll(/\s+/g, ' '), maxCharacters);
}

/** Where `<` and `&` have a meaning (desktops, Slack), text keeps to being text. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

export const NOTIFICATION_LIMITS = { titleCharacters: 200, messageCharacters: 2000 } as const;
