import { useMemo, useRef, useState } from 'preact/hooks';
import { findInLog } from '../../model/log/find-in-log.ts';
import { StateMark } from '../state-mark.tsx';
import { Words } from '../words.tsx';
import { FindBar } from './find-bar.tsx';
import { LogBox } from './log-box.tsx';
import { type LogSource, type LogState, useLog } from './use-log.ts';

/**
 * The complete output of an agent, a shell step or a check: follows the end, and loads older parts as the reader
 * scrolls up.
 */
export function Log({ of }: { readonly of: LogSource }) {
  const [raw, setRaw] = useState(false);
  const [isFollowing, setFollowing] = useState(true);
  const [wanted, setWanted] = useState('');
  const [current, setCurrent] = useState<number | undefined>(undefined);
  const field = useRef<HTMLInputElement>(null);
  const { state, loadOlder } = useLog(of, raw, isFollowing);
  const chunks = state.window?.chunks ?? NONE;
  const matches = useMemo(() => findInLog(chunks, wanted), [chunks, wanted]);
  const step = (by: 1 | -1): void => {
    if (matches.length === 0) return;
    setFollowing(false);
    // A reader at the end first sees the newest match.
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
    <div class="log" onKeyDown={press}>
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
        {state.window === undefined && state.error !== undefined ? null : (
          <span class="dim number">{describePart(state, wanted !== '')}</span>
        )}
        {state.format === undefined || state.format === 'text' ? null : (
          <label class="check" title="The lines as the client printed them">
            <input type="checkbox" checked={raw} onChange={() => setRaw(!raw)} /> Raw
          </label>
        )}
        {state.hasEnded && isFollowing ? null : (
          <button type="button" aria-pressed={isFollowing} onClick={() => setFollowing(true)}>
            {state.hasEnded ? 'To the end' : isFollowing ? '● Following' : 'Follow'}
          </button>
        )}
      </div>
      <LogNotes state={state} />
      <LogBox
        key={`${JSON.stringify(of)} ${raw}`}
        chunks={chunks}
        isFollowing={isFollowing}
        setFollowing={setFollowing}
        loadOlder={() => void loadOlder()}
        matches={matches}
        current={current === undefined ? undefined : matches[current]}
      />
    </div>
  );
}

const NONE = [] as const;

function LogNotes({ state: { window, error, isCut } }: { readonly state: LogState }) {
  return (
    <>
      {error === undefined ? null : error.code === 'log-elsewhere' ? (
        <p>
          <StateMark state="away" word="elsewhere" />: <Words text={error.message} />. <Words text={error.hint} />
        </p>
      ) : (
        <p class="failure" role="alert">
          <strong>{window === undefined ? 'The log cannot be shown:' : 'The log may be out of date:'}</strong>{' '}
          <Words text={error.message} />. <Words text={error.hint} />
        </p>
      )}
      {isCut ? <p class="dim">The log was cut: of a long output only the beginning and the end are kept.</p> : null}
    </>
  );
}

function describePart({ window, size, hasEnded }: LogState, isSearched: boolean): string {
  if (window === undefined) return 'Loading the log…';
  if (size === 0) return hasEnded ? 'Nothing was printed.' : 'Nothing was printed yet.';
  const part = `${renderBytes(window.to - window.from)} of ${renderBytes(size)} ${isSearched ? 'searched' : 'loaded'}`;
  return `${window.from > 0 ? part : renderBytes(size)}${hasEnded ? ', ended' : ''}`;
}

function renderBytes(bytes: number): string {
  return bytes < 1000
    ? `${bytes} bytes`
    : bytes < 1_000_000
      ? `${(bytes / 1000).toFixed(1)} kB`
      : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
