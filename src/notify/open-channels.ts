import type { NotificationChannel } from './channel.ts';
import { desktopChannel, hasDesktop } from './desktop.ts';
import { terminalChannel } from './terminal.ts';
import { webhookChannel } from './webhook.ts';

/** The runbook's `notify` settings with filled templates. */
export interface NotifySettings {
  readonly desktop?: boolean;
  readonly terminal?: boolean;
  /** The webhook's URL; no webhook if absent or empty. */
  readonly webhook?: string | undefined;
}

export interface NotifyContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  /** Prints to the terminal of a foreground daemon (`up --foreground`). */
  readonly say?: (line: string) => void;
}

/**
 * Opens the configured channels. Terminal and desktop are on by default; a webhook must be configured. On a machine
 * without a desktop there is no desktop channel, because each notification would record a failure.
 */
export function openChannels(settings: NotifySettings, context: NotifyContext): readonly NotificationChannel[] {
  const { desktop = true, terminal = true, webhook } = settings;
  return [
    ...(terminal ? [terminalChannel(context)] : []),
    ...(desktop && hasDesktop(context) ? [desktopChannel(context)] : []),
    ...(webhook === undefined || webhook === '' ? [] : [webhookChannel(webhook)]),
  ];
}
