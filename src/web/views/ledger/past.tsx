import { useEffect, useState } from 'preact/hooks';
import type { Answer, ApiError } from '../../../api/answer.ts';
import { startJob, standing } from '../../app/hub-client.ts';
import { hrefTo, project, route } from '../../app/router.ts';
import { Show } from '../../kit/loading.tsx';
import { renderCount } from '../../kit/numbers.ts';
import type { PastView } from '../../model/ledger/past-view.ts';
import { EntryHead } from './entry-detail.tsx';
import { PastContent } from './past-content.tsx';

/** The delay before a state is requested, so that dragging requests it only at a pause. */
const SETTLE_MS = 60;
const STEPS = [-1000, -100, -1, 1, 100, 1000] as const;

interface Looked {
  readonly view?: PastView;
  readonly error?: ApiError;
  /** Undefined if no job is running. */
  readonly progress?: { readonly done: number; readonly of: number } | undefined;
}

/** The project's state after one entry. */
export function Past({ seq, head }: { readonly seq: number; readonly head: number }) {
  const [wanted, setWanted] = useState(seq);
  const looked = usePast(wanted);
  useEffect(() => setWanted(seq), [seq]);
  const clamp = (given: number): number => Math.min(Math.max(1, Math.round(given)), Math.max(1, head));
  const move = (to: number): void => {
    setWanted(clamp(to));
    const id = String(clamp(to));
    location.replace(hrefTo({ view: 'ledger', id, part: 'state', query: route.peek().query }));
  };
  return (
    <>
      <EntryHead seq={wanted} head={head} now="state" />
      <div class="slider" role="group" aria-label="Which entry">
        <input
          type="range"
          min={1}
          max={Math.max(1, head)}
          value={wanted}
          aria-label="Entry"
          aria-valuetext={`entry ${wanted} of ${head}`}
          onInput={({ currentTarget: { value } }) => setWanted(clamp(Number(value)))}
          onChange={({ currentTarget: { value } }) => move(Number(value))}
        />
        <div class="bar">
          {STEPS.map((by) => (
            <button
              key={by}
              type="button"
              aria-label={`${renderStep(by)} ${by === 1 || by === -1 ? 'entry' : 'entries'}`}
              disabled={by < 0 ? wanted <= 1 : wanted >= head}
              onClick={() => move(wanted + by)}
            >
              {renderStep(by)}
            </button>
          ))}
          <label class="field">
            <span class="dim">Entry</span>
            <input
              type="number"
              min={1}
              max={Math.max(1, head)}
              value={wanted}
              onChange={({ currentTarget: { value } }) => move(Number(value))}
            />
          </label>
          <span class="dim number">of {renderCount(head)}</span>
        </div>
      </div>
      {looked.progress === undefined ? null : (
        <p class="bar dim" role="status">
          <progress value={looked.progress.done} max={Math.max(1, looked.progress.of)} aria-label="Folded entries" />
          Folding entries for #{renderCount(wanted)}…
        </p>
      )}
      <Show loaded={toLoaded(looked)} what="the state">
        {(view) => <PastContent view={view} />}
      </Show>
    </>
  );
}

function renderStep(by: number): string {
  return by < 0 ? `−${renderCount(-by)}` : `+${renderCount(by)}`;
}

function toLoaded({ view, error }: Looked) {
  return { ...(view === undefined ? {} : { value: view }), ...(error === undefined ? {} : { error }) };
}

/** The previous state stays visible, with its own number, until the next one is ready. */
function usePast(seq: number): Looked {
  const [looked, setLooked] = useState<Looked>({});
  const own = project.value;
  const isLive = standing.value.link.kind === 'live';
  useEffect(() => {
    if (own === undefined) return undefined;
    let stop = (): void => {};
    const timer = setTimeout(() => {
      stop = startJob({ kind: 'state-at', project: own, seq }, (report) => {
        if (!report.isDone) return setLooked((before) => ({ ...before, progress: report }));
        const answer = report.result as Answer<PastView>; // oxlint-disable-line typescript/no-unsafe-type-assertion -- the result of this kind of job
        setLooked((before) =>
          answer.ok ? { view: answer.result } : { ...before, error: answer.error, progress: undefined },
        );
      });
    }, SETTLE_MS);
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [own, seq, isLive]);
  return looked;
}
