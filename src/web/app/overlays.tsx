import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { StateMark } from '../kit/state-mark.tsx';
import { visible, Words } from '../kit/words.tsx';
import type { Found } from '../model/find-anything.ts';
import { project as projectId, hrefTo, type ViewName } from './router.ts';
import { useApi, useStateView, verifyChain } from './hub-client.ts';
import { VIEW_KEYS } from './keyboard.ts';
import { closeOverlay, openHelp, overlay } from './overlay.ts';
import { nextTheme } from './theme.ts';

/** The command palette and the list of keys. */
export function Overlays() {
  if (overlay.value === 'palette') return <Palette />;
  return overlay.value === 'help' ? <Help /> : null;
}

function Dialog({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    box.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={box}
      class="overlay"
      aria-label={label}
      onClose={closeOverlay}
      onClick={({ target, currentTarget }) => target === currentTarget && closeOverlay()}
    >
      {children}
    </dialog>
  );
}

interface Choice {
  readonly key: string;
  readonly kind: string;
  readonly label: string;
  readonly run: () => void;
}

/**
 * The command palette (Ctrl-K): every view, project, task, agent, pipeline and decision, and the page's own commands.
 */
function Palette() {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const found = useStateView('find', { text });
  const projects = useApi('projects_list', {}, { project: null, on: 'projects', everyMs: 5000 });
  const words = text.toLowerCase();
  const known = [...pageChoices(), ...projectChoices(projects.value?.projects ?? [])].filter(({ label }) =>
    label.toLowerCase().includes(words),
  );
  const choices = [...known.slice(0, 8), ...(found.value ?? []).map(choiceOf)];
  const chosen = Math.min(at, choices.length - 1);
  const choose = (choice: Choice | undefined): void => {
    if (choice === undefined) return;
    closeOverlay();
    choice.run();
  };
  const move = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') choose(choices[chosen]);
    else if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, choices.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0));
    else return;
    event.preventDefault();
  };
  return (
    <Dialog label="Find anything">
      <input
        autoFocus
        role="combobox"
        aria-label="Find anything"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={`found-${chosen}`}
        placeholder="Task, agent, decision, view or command"
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          setAt(0);
        }}
        onKeyDown={move}
      />
      <ul id="found" role="listbox" aria-label="Found">
        {choices.map((choice, index) => (
          <li
            key={choice.key}
            id={`found-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => choose(choice)}
          >
            <span class="dim">{choice.kind}</span> <Words text={choice.label} most={120} />
          </li>
        ))}
      </ul>
      {choices.length === 0 ? <p class="empty">Nothing matches these words.</p> : null}
    </Dialog>
  );
}

function pageChoices(): readonly Choice[] {
  const views = Object.values(VIEW_KEYS).map((view) => ({
    key: `view ${view}`,
    kind: 'view',
    label: view.charAt(0).toUpperCase() + view.slice(1),
    run: () => void (location.hash = hrefTo({ view })),
  }));
  const own = projectId.peek();
  return [
    ...views,
    { key: 'theme', kind: 'command', label: 'Change the theme', run: nextTheme },
    { key: 'keys', kind: 'command', label: 'Show the keys', run: () => setTimeout(openHelp) },
    ...(own === undefined
      ? []
      : [{ key: 'verify', kind: 'command', label: 'Verify the chain', run: () => verifyChain(own) }]),
  ];
}

function projectChoices(projects: readonly { readonly id: string; readonly name: string }[]): readonly Choice[] {
  return projects.map(({ id, name }) => ({
    key: `project ${id}`,
    kind: 'project',
    label: visible(name, 80),
    run: () => void (location.hash = hrefTo({ view: 'inbox', project: id })),
  }));
}

const PLACES: Readonly<Record<Found['kind'], (id: string) => { readonly view: ViewName; readonly id: string }>> = {
  task: (id) => ({ view: 'tasks', id }),
  agent: (id) => ({ view: 'session', id }),
  pipeline: (id) => ({ view: 'work', id: `pipeline:${id}` }),
  decision: (id) => ({ view: 'inbox', id }),
};

function choiceOf({ kind, id, title }: Found): Choice {
  return {
    key: `${kind} ${id}`,
    kind,
    label: `${id.length > 20 ? id.slice(0, 8) : id} ${title}`,
    run: () => void (location.hash = hrefTo(PLACES[kind](id))),
  };
}

const KEYS: readonly (readonly [string, string])[] = [
  ['g i, g w, g t, g f, g l', 'Inbox, Work, Tasks, Fleet, Ledger'],
  ['j, k', 'Next row, previous row'],
  ['Enter', 'Open the row'],
  ['Escape', 'Back to the list; close what is open'],
  ['1 – 9', 'Answer the open decision'],
  ['/', 'Filter'],
  ['Ctrl K, ⌘ K', 'Find anything'],
  ['?', 'This list'],
];

function Help() {
  return (
    <Dialog label="Keys">
      <h2>Keys</h2>
      <dl class="facts">
        {KEYS.map(([keys, what]) => (
          <>
            <dt key={keys}>
              <kbd>{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </>
        ))}
      </dl>
      <h2>States</h2>
      <p class="bar">
        <StateMark state="running" /> <StateMark state="waiting" /> <StateMark state="done" />{' '}
        <StateMark state="failed" /> <StateMark state="queued" />
      </p>
      <button type="button" onClick={closeOverlay}>
        Close
      </button>
    </Dialog>
  );
}
