import { computed } from '@preact/signals';
import { standing } from '../app/hub-client.ts';
import { now } from './time.tsx';

/**
 * The time that the page shows: now, or the time of the daemon's last pulse while it is away, so that no bar grows
 * without data.
 */
export const shownNow = computed(() => {
  const { link } = standing.value;
  return link.kind === 'away' ? (link.shownAt ?? link.since) : now.value;
});
