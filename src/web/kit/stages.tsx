import { ACTIVITY_WORDS, segmentsOf, type StripStage, TIMED } from '../model/strip.ts';
import { shownNow } from './shown-now.ts';
import { renderSpan } from './time.tsx';
import { visible } from './visible.ts';
import { Words } from './words.tsx';

const GLYPH = { done: '✓', failed: '✕', now: '●', ahead: '○' } as const;
const TONE = { done: 'good', failed: 'bad', now: 'busy', ahead: 'dim' } as const;
const STATUS = { done: 'done', failed: 'failed', now: 'now', ahead: 'ahead' } as const;

/**
 * The stages of a run in a row. A bar below each shows the time spent there, by queue, run, checks, merge, waits for a
 * person and blocks. Repeated visits are counted. A compact strip names only the current stage.
 */
export function Stages({
  stages,
  compact = false,
}: {
  readonly stages: readonly StripStage[];
  readonly compact?: boolean;
}) {
  return (
    <ol class={compact ? 'stages compact' : 'stages'}>
      {stages.map((stage) => (
        <li key={stage.name} class={`${toneOf(stage)} ${stage.status}`} data-stage={stage.name}>
          <span class="stage-words">
            <span aria-hidden="true">{glyphOf(stage)}</span>
            <span class="stage-name">
              <Words text={stage.name} most={40} />
            </span>
            {stage.visits > 1 ? <span class="visits">×{stage.visits}</span> : null}
            {stage.activity === null ? (
              <span class="sr">{STATUS[stage.status]}</span>
            ) : (
              <span class="stage-activity">{ACTIVITY_WORDS[stage.activity]}</span>
            )}
          </span>
          <Times stage={stage} />
        </li>
      ))}
    </ol>
  );
}

/** A separate component, so that the clock redraws only the bar of the current stage. */
function Times({ stage }: { readonly stage: StripStage }) {
  const segments = segmentsOf(stage, stage.since === undefined ? 0 : shownNow.value);
  const words = segments.map(({ activity, ms }) => `${ACTIVITY_WORDS[activity]} ${renderSpan(ms)}`).join(', ');
  return (
    <span class="times" title={describe(stage, words)}>
      {segments.map(({ activity, ms }) => (
        <i key={activity} class={`span ${activity}`} style={{ flexGrow: ms }} />
      ))}
      <span class="sr">{words}</span>
    </span>
  );
}

export function toneOf({ status, activity, outcome }: Pick<StripStage, 'status' | 'activity' | 'outcome'>): string {
  if (outcome === 'cancelled') return 'dim';
  return activity === 'waiting' || activity === 'blocked' ? 'wait' : activity === 'queued' ? 'dim' : TONE[status];
}

export function glyphOf({ status, activity }: Pick<StripStage, 'status' | 'activity'>): string {
  return activity === 'waiting' || activity === 'blocked' ? '◆' : GLYPH[status];
}

function describe({ name, status, visits, outcome, activity }: StripStage, times: string): string {
  const state =
    activity === null
      ? `${STATUS[status]}${outcome === null ? '' : `: ${visible(outcome, 60)}`}`
      : ACTIVITY_WORDS[activity];
  return [
    `${visible(name, 60)}: ${state}`,
    ...(visits > 1 ? [`${visits} visits`] : []),
    ...(times === '' ? [] : [times]),
  ].join('; ');
}

/** The legend of the bars' colours and patterns. */
export function TimesLegend() {
  return (
    <ul class="legend" aria-label="Legend">
      {TIMED.filter((activity) => activity !== 'pending').map((activity) => (
        <li key={activity}>
          <i class={`span ${activity}`} aria-hidden="true" /> {ACTIVITY_WORDS[activity]}
        </li>
      ))}
    </ul>
  );
}
