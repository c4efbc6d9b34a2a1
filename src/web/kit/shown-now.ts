import { computed } from '@preact/signals';
import { standing } from '../app/hub-client.ts';
import { now } from './time.tsx';

/** The time that the page shows: the present, or the daemon's last sign of life while it is away. A bar must not grow without news. */
export const shownNow = computed(() => {
  const { link } = standing.value;
  return link.kind === 'away' ? (link.shownAt ?? link.since) : now.value;
});
