import type { StatusView } from '../../api/run-views.ts';
import { standing } from '../app/hub-client.ts';
import type { Loaded } from '../hub/messages.ts';
import { Words } from './words.tsx';

/** The daemon's own verdict, unchanged. Without the daemon there is none: an outdated verdict must not look current. */
export function Verdict({ status }: { readonly status: Loaded<StatusView> }) {
  const { value, error } = status;
  const isLive = standing.value.link.kind === 'live' && error === undefined;
  if (!isLive || value === undefined)
    return (
      <p class="verdict state wait" role="status">
        <span aria-hidden="true">◆</span> Not known: the daemon{' '}
        {value === undefined && error === undefined ? 'has not answered yet' : 'does not answer'}
      </p>
    );
  return (
    <p class={`verdict state ${value.all_clear ? 'good' : 'wait'}`} role="status">
      <span aria-hidden="true">{value.all_clear ? '✓' : '◆'}</span> <Words text={value.summary} most={400} />
    </p>
  );
}
