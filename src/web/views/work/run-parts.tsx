import type { ComponentChildren } from 'preact';
import { hrefTo, type Route } from '../../app/router.ts';
import { Tabs } from '../../kit/split.tsx';
import { StateMark, toneOf } from '../../kit/state-mark.tsx';
import { Words } from '../../kit/words.tsx';

const PARTS = {
  timeline: 'Timeline',
  graph: 'Steps',
  changes: 'Changes',
  messages: 'Messages',
  entries: 'Entries',
} as const;
export type RunPart = keyof typeof PARTS;

export function partOf({ part }: Route, parts: readonly RunPart[]): RunPart {
  return parts.find((name) => name === part) ?? 'timeline';
}

export function RunTabs({
  route,
  parts,
  now,
}: {
  readonly route: Route;
  readonly parts: readonly RunPart[];
  readonly now: RunPart;
}) {
  const { check: _, ...query } = route.query;
  return (
    <Tabs
      parts={parts.map((name) => [name, PARTS[name]] as const)}
      now={now}
      to={(part) => hrefTo({ view: 'work', ...(route.id === undefined ? {} : { id: route.id }), part, query })}
    />
  );
}

export function RunTitle({
  title,
  state,
  word,
  children,
}: {
  readonly title: string;
  readonly state: string;
  readonly word?: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <header class="run-title">
      <h2>
        <Words text={title} most={400} />
      </h2>
      <p class="bar">
        <StateMark state={state} {...(word === undefined ? {} : { word })} />
        {children}
      </p>
    </header>
  );
}

/** Why a run waits, failed or was cancelled. */
export function Reason({ text, state }: { readonly text: string | null; readonly state: string }) {
  return text === null ? null : (
    <p class={`reason ${toneOf(state)}`}>
      <Words text={text} most={2000} />
    </p>
  );
}

/** The facts of a run, without those that have no value. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ComponentChildren | null])[] }) {
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === null ? null : (
          <div key={name} class="fact">
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}
