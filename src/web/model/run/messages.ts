import { fieldOf, findText, listOf, objectsOf, textOf } from '../../../protocol/shape/read-unknown.ts';
import { figure, findWord, type RunEntry, word } from './run-entry.ts';

/** A text that an agent or a person wrote in a run, with its author and its entry. */
export interface Message {
  readonly seq: number;
  readonly at: string;
  readonly author: string;
  readonly kind: 'handoff' | 'record' | 'message' | 'question' | 'answer' | 'report' | 'intervention';
  readonly title: string;
  readonly text: string;
  readonly decisionId?: string;
}

export const MESSAGE_TYPES = [
  'HandoffHeld', 'HandoffDelivered', 'HandoffDropped', 'ThoughtRecorded', 'MessageRequested', 'NoteAdded', 'DecisionOpened',
  'DecisionResolved', 'DecisionWithdrawn', 'AgentSignalled', 'AgentPrompted', 'AgentSessionCompleted', 'TaskProgressed',
  'PhaseMoved', 'TaskReinstated', 'AgentKillRequested', 'PipelineCancelRequested', 'AgentResumeRequested',
] as const; // prettier-ignore

type Described = Pick<Message, 'kind' | 'title' | 'text'> & { readonly decisionId?: string };

/** Lists messages, oldest first. A delivered or dropped handoff is shown once. */
export function listMessages(entries: readonly RunEntry[]): readonly Message[] {
  const settled = new Set(
    entries.flatMap((entry) => (/^Handoff(?:Delivered|Dropped)$/.test(entry.type) ? [word(entry, 'handoff_id')] : [])),
  );
  const asked = new Map(
    entries.flatMap((entry) => (entry.type === 'DecisionOpened' ? [[word(entry, 'decision_id'), entry] as const] : [])),
  );
  return entries
    .toSorted((a, b) => a.seq - b.seq)
    .flatMap((entry) => {
      if (entry.type === 'HandoffHeld' && settled.has(word(entry, 'handoff_id'))) return [];
      const described = describe(entry, asked);
      const { seq, at, actor: author } = entry;
      return described === undefined ? [] : [{ seq, at, author, ...described }];
    });
}

function describe(entry: RunEntry, asked: ReadonlyMap<string, RunEntry>): Described | undefined {
  switch (entry.type) {
    case 'HandoffHeld':
    case 'HandoffDelivered':
    case 'HandoffDropped':
      return describeHandoff(entry);
    case 'ThoughtRecorded':
      return describeRecord(fieldOf(entry.data, 'record'));
    case 'MessageRequested':
      return { kind: 'message', title: 'Message to the agent', text: word(entry, 'text') };
    case 'NoteAdded':
      return describeNote(entry);
    case 'DecisionOpened':
    case 'DecisionResolved':
    case 'DecisionWithdrawn':
      return describeDecision(entry, asked.get(word(entry, 'decision_id')));
    case 'AgentSignalled':
      return saidText('report', `Signal: ${word(entry, 'kind')}`, findWord(entry, 'message'));
    case 'AgentPrompted':
      return saidText('question', 'The agent asks for permission', findWord(entry, 'prompt'));
    case 'AgentSessionCompleted':
      return saidText('report', `Exit signal: ${word(entry, 'exit_reason')}`, findWord(entry, 'notes'));
    case 'TaskProgressed':
      return saidText('report', 'Progress', findWord(entry, 'notes'));
    default:
      return describeIntervention(entry);
  }
}

function describeHandoff(entry: RunEntry): Described {
  const way = `${word(entry, 'from')} → ${findWord(entry, 'to') ?? 'the end of the workflow'}`;
  const state = entry.type === 'HandoffHeld' ? ', held until the session ends' : '';
  const dropped = entry.type === 'HandoffDropped' ? `, not delivered: ${word(entry, 'reason')}` : '';
  return {
    kind: 'handoff',
    title: `Handoff ${way}${state}${dropped}`,
    text: withoutRouting(readableXml(word(entry, 'xml'))),
  };
}

/** Removes the routing, because the title names sender and receiver. */
function withoutRouting(text: string): string {
  return text
    .split('\n')
    .filter((line) => !/^(?:from|to|timestamp): /.test(line))
    .join('\n');
}

function describeRecord(record: unknown): Described {
  const lines = [textOf(fieldOf(record, 'summary')), textOf(fieldOf(record, 'notes'))];
  const blockers = listOf(fieldOf(record, 'blockers')).map((blocker) => `blocker: ${JSON.stringify(blocker)}`);
  const commit = textOf(fieldOf(record, 'commit_sha')).slice(0, 12);
  const text = [...lines, ...blockers].filter((line) => line !== '').join('\n');
  return { kind: 'record', title: `Thought record${commit === '' ? '' : ` at ${commit}`}`, text };
}

function describeNote(entry: RunEntry): Described {
  const [path, line] = [findWord(entry, 'path'), figure(entry, 'line')];
  const place = path === undefined ? '' : ` on ${path}${line === 0 ? '' : `:${line}`}`;
  return { kind: 'message', title: `Note${place}`, text: word(entry, 'text') };
}

function describeDecision(entry: RunEntry, question: RunEntry | undefined): Described {
  const decisionId = word(entry, 'decision_id');
  const title = question === undefined ? '' : word(question, 'title');
  if (entry.type === 'DecisionOpened') return { kind: 'question', title, text: word(entry, 'context'), decisionId };
  if (entry.type === 'DecisionWithdrawn')
    return { kind: 'answer', title: `Withdrawn: ${title}`, text: word(entry, 'reason'), decisionId };
  const options = objectsOf(fieldOf(question?.data, 'options'));
  const chosen = options[Number(fieldOf(entry.data, 'option')) - 1];
  const label = findText(chosen?.['label']) ?? word(entry, 'action');
  return { kind: 'answer', title: `Answer: ${label}`, text: findWord(entry, 'message') ?? title, decisionId };
}

function describeIntervention(entry: RunEntry): Described | undefined {
  const isPerson = entry.actor.startsWith('operator:');
  if (!isPerson) return undefined;
  switch (entry.type) {
    case 'PhaseMoved':
      return /^(?:cancelled|unblocked|waived)$/.test(word(entry, 'cause'))
        ? { kind: 'intervention', title: `The task was ${word(entry, 'cause')}`, text: word(entry, 'reason') }
        : undefined;
    case 'TaskReinstated':
      return { kind: 'intervention', title: 'The task was reinstated', text: word(entry, 'reason') };
    case 'AgentKillRequested':
      return { kind: 'intervention', title: 'The agent was stopped', text: word(entry, 'reason') };
    case 'PipelineCancelRequested':
      return { kind: 'intervention', title: 'The pipeline was cancelled', text: word(entry, 'reason') };
    case 'AgentResumeRequested':
      return saidText('message', 'The agent was resumed', findWord(entry, 'message'));
    default:
      return undefined;
  }
}

function saidText(kind: Message['kind'], title: string, text: string | undefined): Described | undefined {
  return text === undefined || text === '' ? undefined : { kind, title, text };
}

const TOKEN = /<(\/?)([\w.:-]+)((?:[\s/][^<>]*)?)>|([^<>]+)/g;
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** Renders XML as lines `name: text`, indented by depth. For display only. */
export function readableXml(xml: string): string {
  const lines: string[] = [];
  let depth = -1;
  for (const [, closes, name, attributes = '', text = ''] of xml.replaceAll(/<[?!][^>]*>/g, '').matchAll(TOKEN)) {
    const words = decode(text).trim();
    if (name === undefined) {
      const line = lines.pop();
      if (line !== undefined) lines.push(words === '' ? line : `${line} ${words}`);
      else if (words !== '') lines.push(words);
    } else if (closes === '/') depth -= 1;
    else {
      const isEmpty = attributes.trimEnd().endsWith('/');
      const known = decode(attributes.replace(/\/\s*$/, '')).trim();
      // The outermost element is the message itself, of which only the attributes are shown.
      if (depth >= 0) lines.push(`${'  '.repeat(depth)}${name}${known === '' ? '' : ` (${known})`}:`);
      else if (known !== '') lines.push(known);
      if (!isEmpty) depth += 1;
    }
  }
  return lines.length === 0 ? xml : lines.join('\n');
}

function decode(text: string): string {
  return text.replaceAll(/&(lt|gt|amp|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? '');
}
