import type { Tone } from './state-mark.tsx';

/** A bar with its number beside it: the number alone tells everything, so the bar is not read out. */
export function Meter({
  share,
  label,
  tone = 'busy',
}: {
  /** From 0 to 1; more is drawn as 1. */
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

/** At 80 % people are notified, and at 100 % nothing new begins. */
export function toneOfShare(share: number): Tone {
  return share >= 1 ? 'bad' : share >= 0.8 ? 'wait' : 'busy';
}
