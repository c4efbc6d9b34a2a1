import type { StageView } from '../../api/stage-views.ts';
import { renderSpan } from './time.tsx';
import { Words } from './words.tsx';

const GLYPH = { done: '✓', failed: '✕', now: '●', ahead: '○' } as const;
const TONE = { done: 'good', failed: 'bad', now: 'busy', ahead: 'dim' } as const;

/** The stages of a workflow in a row. Waiting in the queue, work, checks and waiting for a person are told apart; repeated visits are counted. */
export function Stages({ stages }: { readonly stages: readonly StageView[] }) {
  return (
    <ol class="stages">
      {stages.map((stage) => (
        <li key={stage.name} class={toneOf(stage)} title={describe(stage)}>
          <span aria-hidden="true">{GLYPH[stage.status]}</span>
          <Words text={stage.name} most={40} />
          {stage.visits > 1 ? <span class="visits">×{stage.visits}</span> : null}
          {stage.activity === null ? null : <span class="activity">{stage.activity.replaceAll('_', ' ')}</span>}
          <span class="sr">{stage.status}</span>
        </li>
      ))}
    </ol>
  );
}

function toneOf({ status, activity }: StageView): string {
  return activity === 'waiting' || activity === 'blocked' ? 'wait' : TONE[status];
}

function describe(stage: StageView): string {
  const parts = [
    ['queued', stage.queued_ms],
    ['running', stage.running_ms],
    ['checks', stage.checks_ms],
    ['merging', stage.merging_ms],
    ['waiting for a person', stage.waiting_ms],
    ['blocked', stage.blocked_ms],
  ] as const;
  const times = parts.filter(([, ms]) => ms > 0).map(([name, ms]) => `${name} ${renderSpan(ms)}`);
  return `${stage.name}: ${stage.status}${stage.outcome === null ? '' : `, ${stage.outcome}`}${times.length === 0 ? '' : `; ${times.join(', ')}`}`;
}
