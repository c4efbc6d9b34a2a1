import type { Tone } from './state-mark.tsx';

/** A bar with its number beside it. The number alone is complete, so screen readers skip the bar. */
export function Meter({
  share,
  label,
  tone = 'busy',
}: {
  /** From 0 to 1; larger values are drawn as 1. */
  readonly share: number;
  readonly label: string;
  readonly tone?: Tone;
}) {
  return (
    <span class="gauge">
      <span class="track" aria-hidden="true">
        <span class={`fill ${tone}`} style={{ width: `${Math.min(100, Math.max(0, share * 100))}%` }} />
      </span>
      <span class="number">{label}</span>
    </span>
  );
}

/** The tone of a share: people are notified at 80 %, and at 100 % no new work begins. */
export function toneOfShare(share: number): Tone {
  return share >= 1 ? 'bad' : share >= 0.8 ? 'wait' : 'busy';
}
