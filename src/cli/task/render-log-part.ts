import type { Style } from '../status/paint.ts';
import { oneLine, shortId } from '../text.ts';
import type { LogPart } from './log-story.ts';

/** Renders the lines of a part without its agent's output. The caller must escape each line. */
export function renderPart(part: LogPart): (readonly [text: string, style: Style])[] {
  switch (part.kind) {
    case 'session': {
      const { name, role, holder, agentId, at, ended } = part;
      const who = role === null || role === name ? name : `${role}: ${name}`;
      const held = holder === null || holder === name ? '' : `, held by ${holder}`;
      const end = ended === null ? '' : `, ${ended}`;
      return [
        ['', 'plain'],
        [oneLine(`━━ ${who} ${shortId(agentId)}${held}, ${timeOf(at)}${end}`), 'bold'],
      ];
    }
    case 'session-end':
      return [[oneLine(`━━ ${part.name} ${shortId(part.agentId)} ended: ${part.ended}`), 'bold']];
    case 'check': {
      const { name, outcome, at, output } = part;
      const isBad = output !== '' || /^(?:failed|conflict|refused|cancelled)/.test(outcome);
      const lines = output === '' ? [] : output.split('\n').map((line) => [`    ${line}`, 'dim'] as const);
      return [[oneLine(`━━ ${name}: ${outcome}, ${timeOf(at)}`), isBad ? 'bad' : 'good'], ...lines];
    }
    case 'note':
      return [[oneLine(`━ ${timeOf(part.at)} ${part.text}`), part.needsPerson === true ? 'call' : 'dim']];
  }
}

function timeOf(at: string): string {
  return at.replace(/\.\d+Z$/, 'Z').replace('T', ' ');
}

export function jsonOf(part: LogPart): object {
  if (part.kind === 'note') {
    const { kind, at, text, needsPerson } = part;
    return { kind, at, text, ...(needsPerson === true ? { needs_person: true } : {}) };
  }
  if (!('agentId' in part)) return part;
  const { agentId: agent_id, ...rest } = part;
  return { agent_id, ...rest };
}
