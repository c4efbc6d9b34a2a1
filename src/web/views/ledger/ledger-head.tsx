import type { ComponentChildren } from 'preact';
import { standing, verifyChain } from '../../app/hub-client.ts';
import { hrefTo } from '../../app/router.ts';
import type { BrokenChain, ProjectStanding } from '../../hub/messages.ts';
import { CopyCommand } from '../../kit/action.tsx';
import { renderCount } from '../../kit/numbers.ts';
import { renderTime } from '../../kit/time.tsx';
import { Words } from '../../kit/words.tsx';

/** The title, and how far this browser has verified the chain. */
export function LedgerHead({ own }: { readonly own: ProjectStanding | undefined }) {
  const seq = own?.seq ?? 0;
  return (
    <>
      <header class="head">
        <h1>Ledger</h1>
        <span class="dim number">{renderCount(seq)} entries</span>
        <nav class="bar end" aria-label="Of the ledger">
          <a href={hrefTo({ view: 'ledger', id: String(seq), part: 'state' })}>State at an entry</a>
          <a href={hrefTo({ view: 'ledger', id: 'check' })}>Proofs</a>
        </nav>
      </header>
      {own === undefined ? null : <Verification own={own} />}
    </>
  );
}

function Verification({ own: { id, seq, verified } }: { readonly own: ProjectStanding }) {
  const isLive = standing.value.link.kind === 'live';
  const { to, isRunning, broken, paused } = verified;
  const again = (
    <button
      type="button"
      class={broken === undefined ? 'plain' : ''}
      disabled={!isLive || isRunning}
      onClick={() => verifyChain(id, 'again')}
    >
      Verify again from the start
    </button>
  );
  const progress = isRunning ? <progress value={to} max={seq} aria-label="Verified entries" /> : null;
  if (broken !== undefined)
    return (
      <Broken project={id} broken={broken} isLive={isLive}>
        {again}
        {progress}
      </Broken>
    );
  return (
    <div class="verification" data-verified={to}>
      <p role="status" class={`state ${isRunning ? 'busy' : to === 0 ? 'dim' : 'good'}`}>
        <span aria-hidden="true">{isRunning ? '●' : to === 0 ? '○' : '✓'}</span>
        <span>
          {to === 0 ? (isRunning ? 'Verifying…' : 'Not verified here') : `Verified to #${renderCount(to)}`}
          {isRunning && to > 0 && seq > to ? `, ${renderCount(seq - to)} to go` : ''}
        </span>
      </p>
      {progress}
      {paused === undefined || isRunning ? null : (
        <span class="dim">
          Paused: <Words text={paused.message} most={200} />
        </span>
      )}
      <Signers keys={verified.keys ?? []} />
      <div class="bar end">
        {to < seq && !isRunning ? (
          <button type="button" disabled={!isLive} onClick={() => verifyChain(id)}>
            Verify now
          </button>
        ) : null}
        {to > 0 ? again : null}
      </div>
    </div>
  );
}

/** The keys whose signatures were checked. A key's name contains the ledger's id, so it is long. */
function Signers({ keys }: { readonly keys: readonly string[] }) {
  const [newest, ...older] = keys.toReversed();
  if (newest === undefined) return null;
  return (
    <span class="dim one-line" title={[newest, ...older].join('\n')}>
      key <code>{newest.split('+')[1] ?? ''}</code>
      {older.length === 0 ? '' : ` and ${older.length} more`}
    </span>
  );
}

function Broken({
  project,
  broken: { seq, message, expected, found, isRewritten },
  isLive,
  children,
}: {
  readonly project: string;
  readonly broken: BrokenChain;
  readonly isLive: boolean;
  readonly children: ComponentChildren;
}) {
  const forget = (): void => {
    // oxlint-disable-next-line no-alert -- what this browser knows is lost
    if (confirm(FORGET)) verifyChain(project, 'forget');
  };
  return (
    <section class="failure chain" role="alert" data-broken={seq}>
      <p>
        <strong>
          ✕ The chain is broken at{' '}
          <a href={hrefTo({ view: 'ledger', id: String(seq) })} class="number">
            #{renderCount(seq)}
          </a>
        </strong>
      </p>
      <p>
        <Words text={message} most={500} />
      </p>
      {expected === undefined ? null : (
        <dl class="facts">
          <dt>Expected</dt>
          <dd>
            <code>
              <Words text={expected} most={300} />
            </code>
          </dd>
          <dt>Found</dt>
          <dd>
            <code>
              <Words text={found ?? 'nothing'} most={300} />
            </code>
          </dd>
        </dl>
      )}
      <div class="bar">
        {children}
        {isRewritten === true ? (
          <button type="button" class="danger" disabled={!isLive} onClick={forget}>
            Forget what was verified
          </button>
        ) : null}
        <CopyCommand command="baton ledger verify" />
      </div>
    </section>
  );
}

const FORGET =
  'This browser verified entries that the ledger no longer has. Forget them only if you restored the ledger yourself. Forget them?';

/** Renders `04:51:03`, with the day only if it is another one. */
export function rowTime(at: string): string {
  const [day = '', time] = renderTime(at).split(' ');
  return time === undefined ? day : `${day.slice(5)} ${time.slice(0, 5)}`;
}
