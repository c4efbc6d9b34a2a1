/** The tone of a state. A state is always shown by a word, a glyph and a colour, so that each alone suffices. */
export type Tone = 'good' | 'busy' | 'wait' | 'bad' | 'dim';

const GLYPHS: Readonly<Record<Tone, string>> = { good: '✓', busy: '●', wait: '◆', bad: '✕', dim: '○' };

const TONES: Readonly<Record<string, Tone>> = {
  done: 'good', passed: 'good', complete: 'good', completed: 'good', merged: 'good', verified: 'good', live: 'good', approved: 'good',
  running: 'busy', starting: 'busy', in_progress: 'busy', checks: 'busy', merging: 'busy', now: 'busy', attached: 'busy', leaving: 'busy', resolved: 'good',
  waiting: 'wait', escalated: 'wait', blocked: 'wait', open: 'wait', answered: 'wait', paused: 'wait', frozen: 'wait', away: 'wait',
  failed: 'bad', dead: 'bad', broken: 'bad', expired: 'bad', revoked: 'bad',
  cancelled: 'dim', withdrawn: 'dim', todo: 'dim', pending: 'dim', queued: 'dim', ahead: 'dim', gone: 'dim', wanted: 'dim',
}; // prettier-ignore

export function toneOf(state: string): Tone {
  return TONES[state] ?? 'dim';
}

export function StateMark({
  state,
  tone = toneOf(state),
  word,
}: {
  readonly state: string;
  readonly tone?: Tone;
  readonly word?: string;
}) {
  return (
    <span class={`state ${tone}`} data-state={state}>
      <span class="glyph" aria-hidden="true">
        {GLYPHS[tone]}
      </span>
      {word ?? state.replaceAll('_', ' ')}
    </span>
  );
}
