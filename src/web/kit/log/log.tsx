import { useMemo, useRef, useState } from 'preact/hooks';
import { findInLog } from '../../model/log/find-in-log.ts';
import { renderAmount } from '../numbers.ts';
import { Words } from '../words.tsx';
import { FindBar } from './find-bar.tsx';
import { LogBox } from './log-box.tsx';
import { type LogState, useLog } from './use-log.ts';

export interface LogProps {
  readonly agentId: string;
}

/** Everything that an agent printed: it follows the end, and loads older parts as the reader goes back. */
export function Log({ agentId }: LogProps) {
  const [raw, setRaw] = useState(false);
  const [isFollowing, setFollowing] = useState(true);
  const [wanted, setWanted] = useState('');
  const [current, setCurrent] = useState<number | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  const { state, loadOlder } = useLog(agentId, raw, isFollowing);
  const chunks = state.window?.chunks ?? NONE;
  const matches = useMemo(() => findInLog(chunks, wanted), [chunks, wanted]);
  const step = (by: 1 | -1): void => {
    if (matches.length === 0) return;
    setFollowing(false);
    // A reader at the end wants the newest match first.
    const first = isFollowing ? matches.length - 1 : 0;
    setCurrent(current === undefined ? first : (current + by + matches.length) % matches.length);
  };
  const press = (event: KeyboardEvent): void => {
    if (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const act = { n: () => step(1), N: () => step(-1) }[event.key];
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  return (
    <section class="log" aria-label="Log of the agent" data-agent={agentId} onKeyDown={press}>
      <div class="bar">
        <FindBar
          field={field}
          text={wanted}
          setText={(text) => {
            setWanted(text);
            setCurrent(undefined);
          }}
          count={matches.length}
          current={current}
          step={step}
        />
        <label class="check">
          <input type="checkbox" checked={raw} onChange={() => setRaw(!raw)} /> Raw
        </label>
        <button type="button" aria-pressed={isFollowing} onClick={() => setFollowing(true)}>
          {state.hasEnded ? 'To the end' : isFollowing ? '● Following' : 'Follow'}
        </button>
      </div>
      <LogNotes state={state} isSearched={wanted !== ''} />
      <LogBox
        key={`${agentId} ${raw}`}
        chunks={chunks}
        isFollowing={isFollowing}
        setFollowing={setFollowing}
        loadOlder={() => void loadOlder()}
        matches={matches}
        current={current === undefined ? undefined : matches[current]}
      />
    </section>
  );
}

const NONE = [] as const;

function LogNotes({ state, isSearched }: { readonly state: LogState; readonly isSearched: boolean }) {
  const { window, size, error, hasEnded } = state;
  return (
    <>
      {error === undefined ? null : (
        <p class="failure" role="alert">
          <strong>{window === undefined ? 'The log cannot be shown:' : 'The log may be out of date:'}</strong>{' '}
          <Words text={error.message} />. <Words text={error.hint} />
        </p>
      )}
      {window === undefined ? (
        error === undefined ? (
          <p class="dim">Loading the log…</p>
        ) : null
      ) : size === 0 ? (
        <p class="dim">{hasEnded ? 'The agent printed nothing.' : 'The agent has printed nothing yet.'}</p>
      ) : window.from > 0 ? (
        <p class="dim number">
          Shown from byte {renderAmount(window.from)} of {renderAmount(size)}; scroll up for more.
          {isSearched ? ' Only the loaded part is searched.' : ''}
        </p>
      ) : null}
    </>
  );
}
