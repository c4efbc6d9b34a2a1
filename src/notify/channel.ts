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
