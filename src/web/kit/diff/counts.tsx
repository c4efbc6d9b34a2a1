import { renderCount } from '../numbers.ts';

/** Lines added and removed. */
export function Counts({ additions, deletions }: { readonly additions: number; readonly deletions: number }) {
  return (
    <span class="counts number">
      <span class="plus">+{renderCount(additions)}</span> <span class="minus">−{renderCount(deletions)}</span>
    </span>
  );
}
