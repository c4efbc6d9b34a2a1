import type { NotificationChannel } from './channel.ts';
import { desktopChannel } from './desktop.ts';
import { terminalChannel } from './terminal.ts';
import { webhookChannel } from './webhook.ts';

/** What a runbook's `notify` says, with its templates filled in. */
export interface NotifySettings {
  readonly desktop?: boolean;
  readonly terminal?: boolean;
  /** Where to post; absent or empty: nowhere. */
  readonly webhook?: string | undefined;
}

export interface NotifyContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform?: NodeJS.Platform;
  /** The terminal of a daemon that runs in one (`up --foreground`). */
  readonly say?: (line: string) => void;
}

/** The channels that the settings ask for. Without settings: terminal and desktop; a webhook must be named. */
export function openChannels(settings: NotifySettings, world: NotifyContext): readonly NotificationChannel[] {
  const { desktop = true, terminal = true, webhook } = settings;
  return [
    ...(terminal ? [terminalChannel(world)] : []),
    ...(desktop ? [desktopChannel(world)] : []),
    ...(webhook === undefined || webhook === '' ? [] : [webhookChannel(webhook)]),
  ];
}
