import { printable } from '../text.ts';
import { shortId } from './views.ts';

/** The end of what a step printed, where the news is, below the line of the step; and where all of it is. */
export function renderOutput(output: string, indent: string, where: string | null): string[] {
  const lines = output.trimEnd().split('\n');
  const last = lines.slice(-SHOWN_LINES).map((line) => shorten(printable(line.trimEnd())));
  const shown = [...(lines.length > SHOWN_LINES ? ['…'] : []), ...(output.trim() === '' ? [] : last)];
  const rest = where === null ? [] : [`all of it: ${printable(where)}`];
  return [...shown, ...rest].map((line) => `${indent}${line}`.trimEnd());
}

const SHOWN_LINES = 10;

function shorten(line: string): string {
  return line.length > MAX_LINE_CHARACTERS ? `${line.slice(0, MAX_LINE_CHARACTERS)}…` : line;
}

const MAX_LINE_CHARACTERS = 300;

/** What shows everything that an agent printed; null where no agent ran. */
export function logsOf(agentId: string | null): string | null {
  return agentId === null ? null : `baton agent logs ${shortId(agentId)}`;
}
