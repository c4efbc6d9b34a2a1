import type { DecisionView } from '../../../api/run-views.ts';
import { shellWord } from '../../../protocol/text/quote-for-shell.ts';

type Option = DecisionView['options'][number];
type Asked = Pick<DecisionView, 'source' | 'options'>;

export interface Draft {
  readonly message: string;
  /** The agent's name, only for `hand_over`. */
  readonly agent: string;
}

/**
 * Finds what the daemon would miss in an answer, before it is sent. For a merge that is held back, Baton's own finding
 * serves as the note.
 */
export function findMissing({ source }: Pick<Asked, 'source'>, { action }: Option, draft: Draft): Missing | undefined {
  if (action === 'send_back' && source !== 'merge' && draft.message.trim() === '') return 'note';
  return action === 'hand_over' && draft.agent.trim() === '' ? 'agent' : undefined;
}

export type Missing = 'note' | 'agent';

/** The kind of a decision. Decisions with the same source and options can get the same answer at once. */
function kindOf({ source, options }: Asked): string {
  return JSON.stringify([source, options.map(({ action, label }) => [action, label])]);
}

/** For each decision that waits for an answer, the ids of its kind, including its own. */
export function groupAlike(open: readonly DecisionView[]): AlikeIds {
  const waiting = open.filter(({ answer }) => answer === null);
  const groups = Map.groupBy(waiting, kindOf).values();
  return new Map(
    [...groups].flatMap((those) => {
      const ids = those.map(({ id }) => id);
      return ids.map((id) => [id, ids] as const);
    }),
  );
}

export type AlikeIds = ReadonlyMap<string, readonly string[]>;

/** Keeps the chosen decisions that still wait for an answer and are of the first one's kind. */
export function keepAlike(chosen: readonly string[], alike: AlikeIds): readonly string[] {
  const first = chosen.find((id) => alike.has(id));
  const ids = alike.get(first ?? '') ?? [];
  return chosen.filter((id) => ids.includes(id));
}

/**
 * Returns the options that one answer can give to several decisions. An agent must be named for each decision
 * separately.
 */
export function optionsForSeveral(options: readonly Option[]): readonly Option[] {
  return options.filter(({ action }) => action !== 'hand_over');
}

/** The equivalent command of the CLI. */
export function answerCommand(id: string, { n, action }: Option, { message, agent }: Draft): string {
  const note = message.trim() === '' ? '' : ` -m ${shellWord(message.trim())}`;
  const to = action !== 'hand_over' ? '' : ` --agent ${agent.trim() === '' ? 'NAME' : shellWord(agent.trim())}`;
  return `baton decision resolve ${id.slice(0, 8)} ${n}${note}${to}`;
}

/** Renders `takes effect in 4 s`. */
export function renderEffect(effectiveAt: string, nowMs: number): string {
  const seconds = Math.ceil((Date.parse(effectiveAt) - nowMs) / 1000);
  return seconds > 0 ? `takes effect in ${seconds} s` : 'takes effect now';
}

interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  /** Whether the key is held down. */
  readonly repeat: boolean;
}

/** The option that a key selects. */
export function optionOfKey({ key, ctrlKey, metaKey, altKey, repeat }: Pressed): number | undefined {
  return /^[1-9]$/.test(key) && !ctrlKey && !metaKey && !altKey && !repeat ? Number(key) : undefined;
}
