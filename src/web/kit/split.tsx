import type { ComponentChildren } from 'preact';
import type { ViewName } from '../app/router.ts';
import { hrefTo } from '../app/router.ts';

/** A list with the detail of one row beside it. On a narrow screen the detail covers the list. */
export function Split({
  view,
  list,
  detail,
  label,
  query = {},
}: {
  readonly view: ViewName;
  readonly label: string;
  /** The query of the list, so that going back keeps its filter. */
  readonly query?: Readonly<Record<string, string>>;
  readonly list: ComponentChildren;
  /** The detail; undefined if no row is chosen. */
  readonly detail: ComponentChildren | undefined;
}) {
  return (
    <div class={detail === undefined ? 'split' : 'split open'}>
      <section class="list" aria-label={label}>
        {list}
      </section>
      {detail === undefined ? null : (
        <section class="detail" aria-label="Detail" tabIndex={-1}>
          <a class="back" href={hrefTo({ view, query })}>
            ← {label}
          </a>
          {detail}
        </section>
      )}
    </div>
  );
}

/** Parts of a detail, each with its own address. */
export function Tabs({
  parts,
  now,
  to,
  label = 'Parts',
}: {
  readonly parts: readonly (readonly [name: string, label: string])[];
  readonly now: string;
  readonly to: (name: string) => string;
  /** Required if a view has several tab lists. */
  readonly label?: string;
}) {
  return (
    <nav class="tabs" aria-label={label}>
      {parts.map(([name, label]) => (
        <a key={name} href={to(name)} aria-current={name === now ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
