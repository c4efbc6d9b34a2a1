import type { DecisionView } from '../../api/run-views.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';

type Option = DecisionView['options'][number];
type Asked = Pick<DecisionView, 'source' | 'options'>;

export interface Draft {
  readonly message: string;
  /** Only for `hand_over`. */
  readonly agent: string;
}

/** What the daemon would refuse the answer for; asked for before anything is sent. A merge that is held back has a finding of Baton's own. */
export function findMissing({ source }: Pick<Asked, 'source'>, { action }: Option, draft: Draft): Missing | undefined {
  if (action === 'send_back' && source !== 'merge' && draft.message.trim() === '') return 'note';
  return action === 'hand_over' && draft.agent.trim() === '' ? 'agent' : undefined;
}

export type Missing = 'note' | 'agent';

/** Decisions with the same source and the same options can get the same answer at once. */
export function kindOf({ source, options }: Asked): string {
  return JSON.stringify([source, options.map(({ action, label }) => [action, label])]);
}

/** The ids that still wait for an answer and are of one kind: that of the first one that was chosen. */
export function keepAlike(chosen: readonly string[], open: readonly DecisionView[]): readonly string[] {
  const byId = new Map(open.filter(({ answer }) => answer === null).map((each) => [each.id, kindOf(each)]));
  const kind = chosen.map((id) => byId.get(id)).find((each) => each !== undefined);
  return chosen.filter((id) => kind !== undefined && byId.get(id) === kind);
}

/** Options that one answer can give to several decisions: an agent is named for each decision on its own. */
export function optionsForSeveral(options: readonly Option[]): readonly Option[] {
  return options.filter(({ action }) => action !== 'hand_over');
}

/** The command that gives the same answer. */
export function answerCommand(id: string, { n, action }: Option, { message, agent }: Draft): string {
  const note = message.trim() === '' ? '' : ` -m ${shellWord(message.trim())}`;
  const to = action !== 'hand_over' ? '' : ` --agent ${agent.trim() === '' ? 'NAME' : shellWord(agent.trim())}`;
  return `baton decision resolve ${id.slice(0, 8)} ${n}${note}${to}`;
}

/** `takes effect in 4 s`. */
export function renderEffect(effectiveAt: string, nowMs: number): string {
  const seconds = Math.ceil((Date.parse(effectiveAt) - nowMs) / 1000);
  return seconds > 0 ? `takes effect in ${seconds} s` : 'takes effect now';
}

interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  /** The key is held down. */
  readonly repeat: boolean;
}

/** The option that a key stands for. */
export function optionOfKey({ key, ctrlKey, metaKey, altKey, repeat }: Pressed): number | undefined {
  return /^[1-9]$/.test(key) && !ctrlKey && !metaKey && !altKey && !repeat ? Number(key) : undefined;
}
