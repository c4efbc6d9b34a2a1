import { signal } from '@preact/signals';
import type { AwayReason, Link, ProjectStanding } from '../hub/messages.ts';
import { renderCount } from '../kit/numbers.ts';
import { now, renderAge, renderTime } from '../kit/time.tsx';
import { hrefTo, project } from './router.ts';
import { standing } from './hub-client.ts';

/** The time, updated twice a second, for the age of the daemon's last pulse. */
const tick = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === 'visible') tick.value = Date.now();
}, 500);

/** The status line in every view: whether the data is current, and how far the chain is verified. */
export function Foot() {
  const { link, projects } = standing.value;
  const own = projects.find(({ id }) => id === project.value);
  return (
    <footer class={`foot ${link.kind}`}>
      <Connection link={link} own={own} />
      <Chain own={own} isLive={link.kind === 'live'} />
    </footer>
  );
}

function Connection({ link, own }: { readonly link: Link; readonly own: ProjectStanding | undefined }) {
  if (link.kind === 'starting') return <span class="state dim">asking the daemon…</span>;
  if (link.kind === 'locked') return <span class="state wait">locked</span>;
  if (link.kind === 'away') {
    const shown = link.shownAt === undefined ? 'nothing is shown' : `shown as of ${renderTime(link.shownAt)}`;
    return (
      <strong class="state bad" role="alert">
        ◆ away {renderAge(now.value - link.since)}: {shown}. {WHY[link.why]}
      </strong>
    );
  }
  const age = Math.max(0, tick.value - link.at) / 1000;
  return (
    <span class="number">
      <span class="state good">
        <span aria-hidden="true">●</span> live
      </span>
      {own === undefined ? '' : ` · #${renderCount(own.seq)}`} · {age.toFixed(1)} s ago
    </span>
  );
}

const WHY: Readonly<Record<AwayReason, string>> = {
  gone: 'The daemon cannot be reached.',
  hung: 'The daemon does not respond.',
  foreign: 'Another program answers on this port; it is not your daemon.',
  failing: 'The daemon responds with errors.',
};

function Chain({ own, isLive }: { readonly own: ProjectStanding | undefined; readonly isLive: boolean }) {
  if (own === undefined) return null;
  const { verified } = own;
  if (verified.broken !== undefined)
    return (
      <a class="state bad" href={hrefTo({ view: 'ledger', id: String(verified.broken.seq) })}>
        ✕ chain broken at #{renderCount(verified.broken.seq)}
      </a>
    );
  if (verified.to === 0)
    return <a href={hrefTo({ view: 'ledger' })}>{verified.isRunning ? 'verifying…' : 'not verified here'}</a>;
  return (
    <a class="number" href={hrefTo({ view: 'ledger' })}>
      verified to #{renderCount(verified.to)}
      {verified.isRunning && isLive ? ' …' : ''}
    </a>
  );
}
