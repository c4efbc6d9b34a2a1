import { showInvisible } from '../../protocol/text/show-invisible.ts';
import { boundTokens, cutStartToTokens, cutToTokens } from '../../protocol/text/token-bound.ts';
import type { Decision } from '../runs/decision.ts';
import type { Task } from '../tasks/task.ts';
import type { Packet } from './packet.ts';
import { SECTIONS, type Statement } from './statement.ts';

/** The limit of the specification. */
export const PACKET_TOKENS = 2500;

export interface RenderOptions {
  readonly tokens?: number;
  /** Replaces the title, the phase and the next role. */
  readonly heading?: string;
  /** Files that the reader should read. */
  readonly references?: readonly string[];
  /** The prompt file, shown if there is room. */
  readonly prompt?: { readonly path: string; readonly text: string } | null;
  /** Ids of handoffs, records and decisions that the reader already has. */
  readonly without?: ReadonlySet<string>;
}

export interface RenderedPacket {
  readonly text: string;
  /** An upper bound of the text's tokens. */
  readonly tokens: number;
}

/**
 * Renders the packet as Markdown within a token limit. Text of others is in fences that it cannot close; omitted
 * statements are named by their entry.
 */
export function renderPacket(packet: Packet, options: RenderOptions = {}): RenderedPacket {
  const { tokens = PACKET_TOKENS, without = new Set() } = options;
  const head = renderHead(packet, tokens, options.heading ?? describeTask(packet));
  const tail = chooseTail(packet, options, tokens * FRAME_SHARE - boundTokens(head));
  const ranked = rankItems(packet, without);
  let shown = chooseItems(ranked, tokens - boundTokens(`${head}\n\n${tail}`) - tokens * HEADINGS_SHARE);
  for (;;) {
    const isWhole = shown.length === ranked.length && shown.every(({ item, text }) => text === item.text);
    const parts = [head, ...renderSections(packet, ranked, shown), tail, isWhole ? '' : FOOTER];
    const text = parts.filter((part) => part !== '').join('\n\n');
    const bound = boundTokens(text);
    if (bound <= tokens || shown.length === 0) return withPrompt({ text, tokens: bound }, options, tokens);
    shown = shown.slice(0, -1);
  }
}

const FOOTER = 'Entries hold the rest: call entry_get with `seq`, or run `baton ledger show SEQ`.';

/**
 * The maximum share of tokens for head and tail. The same share limits the headings of sections, which name the omitted
 * entries.
 */
const FRAME_SHARE = 0.55;
const HEADINGS_SHARE = 0.08;

function describeTask({ task }: Packet): string {
  const { id, phase, nextRole, progress, promptFile, githubIssue, flow } = task;
  const facts = [
    `Phase: ${phase}`,
    nextRole === null ? '' : `Next role: ${cutLine(nextRole, 20)}`,
    progress === null ? '' : `Progress: ${progress} %`,
    flow.rounds === 0 ? '' : `Rounds back to the fixer: ${flow.rounds}`,
    githubIssue === null ? '' : `GitHub issue: ${githubIssue.repository}#${githubIssue.number}`,
    promptFile === null ? '' : `Prompt file: ${renderPath(promptFile)}`,
  ];
  return `# Task ${id}\n\n${facts.filter((fact) => fact !== '').join('\n')}`;
}

function renderHead({ task, author, goal, issue, open, waitsFor }: Packet, tokens: number, heading: string): string {
  const blocked = task.blocked === null ? [] : [renderFence(cut(task.blocked.reason, tokens / 20))];
  const waits = waitsFor.slice(0, 3).map(renderOther);
  return [
    heading,
    ...blocked,
    ...(waits.length === 0 ? [] : [`Waits for:\n\n${renderFence(waits.join('\n'))}`]),
    `## Goal\n\nWritten by ${cutLine(author, 60)}:\n\n${renderFence(cut(goal, issue === null ? tokens / 5 : tokens / 10))}`,
    ...(issue === null
      ? []
      : [`The issue of ${renderPath(issue.from)}:\n\n${renderFence(cut(issue.text, tokens / 8))}`]),
    ...(open.length === 0 ? [] : [`## Open decisions\n\n${open.slice(0, 2).map(renderOpen).join('\n')}`]),
  ].join('\n\n');
}

function renderOther({ id, title, phase }: Pick<Task, 'id' | 'title' | 'phase'>): string {
  return `- ${id} (${phase}): ${cutLine(title, 24)}`;
}

function renderOpen({ id, title, context }: Decision): string {
  return `- ${id.slice(0, 8)}: ${cutLine(title, 40)}\n\n${renderFence(cut(context, 60))}`;
}

/** Chooses as many lines of each list as fit. */
function chooseTail(packet: Packet, options: RenderOptions, room: number): string {
  for (const lines of [20, 6, 3, 1]) {
    const tail = renderTail(packet, options, lines);
    if (boundTokens(tail) <= room) return tail;
  }
  return '';
}

function renderTail(
  { next, lessons, before, newest }: Packet,
  { references = [] }: RenderOptions,
  most: number,
): string {
  const learned = lessons
    .slice(0, most)
    .map(({ text, taskId, seq }) => `- ${cutLine(text, 40)} (${taskId}, entry ${seq})`);
  const actions = next.slice(0, most).map(renderOther);
  const files = references.slice(0, most).map((path) => `- ${renderPath(path)}`);
  const rest = references.length > most ? [`- and ${references.length - most} more`] : [];
  const recordTokens = 40 + 8 * most;
  const earlier = before.slice(0, MAX_BEFORE).map((item) => renderItem(item, cutItem(item, recordTokens)));
  const unshown = before.slice(MAX_BEFORE).map(({ seq }) => seq);
  if (unshown.length > 0) earlier.push(`Not shown: entries ${unshown.slice(0, 6).join(', ')}`);
  return [
    earlier.length === 0 ? '' : `## Records of the tasks before\n\n${earlier.join('\n\n')}`,
    newest === null ? '' : `## Newest record of the project\n\n${renderItem(newest, cut(newest.text, recordTokens))}`,
    // Lessons and titles of other tasks are data like other text, so each is one line inside a fence.
    learned.length === 0 ? '' : `## Project memory\n\n${renderFence(learned.join('\n'))}`,
    actions.length === 0 ? '' : `## Next actions\n\n${renderFence(actions.join('\n'))}`,
    files.length === 0 ? '' : `## Read first\n\n${[...files, ...rest].join('\n')}`,
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

/** How many records of earlier tasks are shown. */
const MAX_BEFORE = 3;

/**
 * Ranks the newest item of each section first, the most urgent section first; then the second newest of each, and so
 * on.
 */
function rankItems({ sections }: Packet, without: ReadonlySet<string>): readonly Statement[] {
  const lists = sections
    .toSorted((a, b) => SECTIONS[a.name].urgency - SECTIONS[b.name].urgency)
    .map(({ items }) => items.filter(({ ref }) => ref === undefined || !without.has(ref)));
  const most = Math.max(0, ...lists.map(({ length }) => length));
  return Array.from({ length: most }, (_, i) => lists.flatMap((list) => list[i] ?? [])).flat();
}

interface Shown {
  readonly item: Statement;
  readonly text: string;
}

/** Gives every item a share, in order, while there is room; what remains extends the items that were cut. */
function chooseItems(ranked: readonly Statement[], most: number): readonly Shown[] {
  let room = most;
  const share = Math.min(SHARE_TOKENS, Math.max(ITEM_TOKENS, most / 6));
  const shown: { readonly item: Statement; text: string; cost: number }[] = [];
  for (const item of ranked) {
    if (room < ITEM_TOKENS) break;
    const text = cutItem(item, Math.min(share, room - ITEM_TOKENS));
    const cost = boundTokens(renderItem(item, text));
    if (cost > room) continue;
    room -= cost;
    shown.push({ item, text, cost });
  }
  for (const each of shown) {
    if (room < ITEM_TOKENS) break;
    if (each.text === each.item.text) continue;
    const text = cutItem(each.item, each.cost + room - 2 * ITEM_TOKENS);
    const cost = boundTokens(renderItem(each.item, text));
    if (cost <= each.cost || cost > each.cost + room) continue;
    room -= cost - each.cost;
    Object.assign(each, { text, cost });
  }
  return shown;
}

/** A path is never cut, because a cut path is useless; only unusual paths are longer. */
const PATH_TOKENS = 120;

/** The maximum for an item's heading and fence, without its text. */
const ITEM_TOKENS = 60;
const SHARE_TOKENS = 200;

function renderSections({ sections }: Packet, ranked: readonly Statement[], shown: readonly Shown[]): string[] {
  const texts = new Map(shown.map(({ item, text }) => [item, text]));
  const known = new Set(ranked);
  return sections.flatMap(({ title, items }) => {
    const here = items.filter((item) => texts.has(item)).map((item) => renderItem(item, texts.get(item) ?? ''));
    const left = items.filter((item) => known.has(item) && !texts.has(item)).map(({ seq }) => seq);
    const more =
      left.length === 0 ? [] : [`Not shown: entries ${left.slice(0, 6).join(', ')}${left.length > 6 ? ' …' : ''}`];
    return here.length + more.length === 0 ? [] : [`## ${title}\n\n${[...here, ...more].join('\n\n')}`];
  });
}

function renderItem({ seq, author, title }: Statement, text: string): string {
  const line = `- entry ${seq}, ${cutLine(author, 24)}: ${cutLine(title, 40)}`;
  return text === '' ? line : `${line}\n\n${renderFence(text)}`;
}

function withPrompt({ text, tokens }: RenderedPacket, { prompt }: RenderOptions, most: number): RenderedPacket {
  if (!prompt || most - tokens < 2 * ITEM_TOKENS) return { text, tokens };
  const whole = showInvisible(prompt.text);
  const body = cutToTokens(whole, most - tokens - ITEM_TOKENS);
  const marked = body === whole ? body : `${body}\n[cut here; the rest is in the file]`;
  const longer = `${text}\n\n## Prompt file ${renderPath(prompt.path)}\n\n${renderFence(marked)}`;
  const bound = boundTokens(longer);
  return bound <= most ? { text: longer, tokens: bound } : { text, tokens };
}

/** Cuts an item. Of a program's output the end is kept. */
function cutItem({ section, text, seq }: Statement, most: number): string {
  const isOutput = section === 'check';
  const kept = isOutput ? cutStartToTokens(text, most) : cutToTokens(text, most);
  if (kept === text) return text;
  const mark = `[cut here; the rest: entry ${seq}]`;
  return isOutput ? `${mark}\n${kept.trimStart()}` : `${kept.trimEnd()}\n${mark}`;
}

function cut(text: string, most: number): string {
  const shown = showInvisible(text);
  const kept = cutToTokens(shown, most);
  return kept === shown ? shown : `${kept.trimEnd()}\n[cut here]`;
}

function cutLine(text: string, most: number): string {
  const line = showInvisible(text.replaceAll(/\s+/g, ' ').trim());
  const kept = cutToTokens(line, most);
  return kept === line ? line : `${kept.trimEnd()}…`;
}

/** Renders a path of usual characters unchanged, and any other in quotes, because a file's name can be a sentence. */
export function renderPath(path: string): string {
  return /^[\w./@+-]+$/.test(path) ? cutLine(path, PATH_TOKENS) : JSON.stringify(cutLine(path, PATH_TOKENS));
}

/**
 * Renders a fence that the text cannot close. Long runs of backticks are shortened, since a longer fence would cost
 * more than the text.
 */
export function renderFence(text: string, language = 'text'): string {
  const tame = showInvisible(text).replaceAll(/`{9,}/g, '`'.repeat(8));
  const longest = Math.max(2, ...[...tame.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${tame}\n${fence}`;
}
