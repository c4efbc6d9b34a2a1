import { type Fields, objectsOf, textOf } from '../../protocol/shape/read-unknown.ts';

/** Describes a tool's input by its most useful part: the command, or the file with the lines added and removed. */
export function describeCall(input: Fields): string {
  const what = SUBJECTS.map((name) => textOf(input[name])).find((text) => text !== '') ?? '';
  const edits = objectsOf(input['edits']);
  const counts = (edits.length > 0 ? edits : [input]).map(countLines);
  const added = counts.reduce((sum, { additions }) => sum + additions, 0);
  const removed = counts.reduce((sum, { deletions }) => sum + deletions, 0);
  const lines = added + removed === 0 ? '' : `  +${added} -${removed}`;
  if (what !== '') return `${what}${lines}`;
  return Object.keys(input).length === 0 ? '' : JSON.stringify(input);
}

/** Names of fields in clients' tools and most others, the most useful first. */
const SUBJECTS = [
  'command',
  'file_path',
  'notebook_path',
  'absolute_path',
  'pattern',
  'query',
  'url',
  'path',
  'dir_path',
  'description',
  'prompt',
  'skill',
  'task_id',
];

interface LineCounts {
  readonly additions: number;
  readonly deletions: number;
}

/** Counts lines that an edit adds and removes. Equal lines around them are context. A written file counts as added. */
function countLines({ old_string, new_string, content, file_path }: Fields): LineCounts {
  if (typeof old_string !== 'string' || typeof new_string !== 'string') {
    const isFile = typeof content === 'string' && typeof file_path === 'string';
    return { additions: isFile ? linesOf(content).length : 0, deletions: 0 };
  }
  const [before, after] = [linesOf(old_string), linesOf(new_string)];
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return { additions: after.length - start - end, deletions: before.length - start - end };
}

function linesOf(text: string): string[] {
  return text === '' ? [] : (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

/** Renders `mcp__server__tool` as `server/tool`. */
export function renderToolName(name: string): string {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  return server === undefined || tool === undefined ? name : `${server}/${tool}`;
}
