import { useEffect } from 'preact/hooks';
import type { StatusView } from '../../api/run-views.ts';
import type { Loaded } from '../hub/messages.ts';
import { standing } from './hub-client.ts';

/** The title and the icon of the tab tell what needs the person, also from another tab. */
export function Signals({ status }: { readonly status: Loaded<StatusView> }) {
  const { link } = standing.value;
  const needs = status.value?.needs ?? 0;
  const kind = link.kind === 'live' ? (needs > 0 ? 'needs' : 'calm') : 'away';
  useEffect(() => {
    document.title = kind === 'away' ? 'away · Baton' : needs > 0 ? `(${needs}) Baton` : 'Baton';
    document.querySelector('link[rel=icon]')?.setAttribute('href', kind === 'calm' ? '/icon.svg' : `/icon-${kind}.svg`);
  }, [kind, needs]);
  return null;
}
