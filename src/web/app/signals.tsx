import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { StatusView } from '../../api/run-views.ts';
import type { Loaded } from '../hub/messages.ts';
import { visible } from '../kit/words.tsx';
import { standing } from './hub-client.ts';

const wantsNotifications = signal(localStorage.getItem('notifications') === 'on');

/**
 * Shows the number of items that need the user in the tab's title and icon, and on request in a browser notification.
 */
export function Signals({ status }: { readonly status: Loaded<StatusView> }) {
  const { link } = standing.value;
  const { needs = 0, summary = '' } = status.value ?? {};
  const kind = link.kind === 'live' ? (needs > 0 ? 'needs' : 'calm') : 'away';
  useEffect(() => {
    document.title = kind === 'away' ? 'away · Baton' : needs > 0 ? `(${needs}) Baton` : 'Baton';
    document.querySelector('link[rel=icon]')?.setAttribute('href', kind === 'calm' ? '/icon.svg' : `/icon-${kind}.svg`);
  }, [kind, needs]);
  const before = useRef<number | undefined>(undefined);
  useEffect(() => {
    const isMore = before.current !== undefined && needs > before.current;
    if (status.value !== undefined) before.current = needs;
    if (isMore && wantsNotifications.peek() && document.visibilityState === 'hidden') tell(visible(summary, 200));
  }, [needs]);
  return null;
}

/** Replaces the last notification, so that a night of questions is one line in the morning. */
function tell(body: string): void {
  if (Notification.permission === 'granted') new Notification('Baton', { body, tag: 'baton', icon: '/icon-needs.svg' }); // oxlint-disable-line eslint/no-new
}

export function NotificationSwitch() {
  if (!('Notification' in globalThis)) return null;
  const isOn = wantsNotifications.value && Notification.permission === 'granted';
  const change = async (): Promise<void> => {
    const permission = isOn ? 'denied' : await Notification.requestPermission();
    wantsNotifications.value = permission === 'granted';
    localStorage.setItem('notifications', wantsNotifications.value ? 'on' : 'off');
  };
  return (
    <button type="button" aria-pressed={isOn} onClick={() => void change()}>
      Notifications: {isOn ? 'on' : 'off'}
    </button>
  );
}
