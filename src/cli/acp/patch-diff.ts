import { join } from 'node:path';
import type { Diff, ToolContent } from '../../acp/messages.ts';
import type { TaskDiff } from '../../api/operations/task-work.ts';
import { renderCountOf } from '../../protocol/text/text-format.ts';
import { plainText } from './plain-text.ts';
import { fencedText } from './plain-text.ts';

/**
 * Renders the change of a task for ACP: for each file the lines before and after. Large changes are cut, with a note.
 */
export function diffContent({ files, total }: Pick<TaskDiff, 'files' | 'total'>, root: string): readonly ToolContent[] {
  const diffs: Diff[] = [];
  let characters = 0;
  for (const file of files) {
    const diff = diffs.length < MAX_FILES ? diffOf(file, root) : undefined;
    if (diff === undefined) continue;
    characters += (diff.oldText?.length ?? 0) + diff.newText.length;
    if (characters > MAX_CHARACTERS) break;
    diffs.push(diff);
  }
  const rest = total.files - diffs.length;
  return rest === 0 ? diffs : [...diffs, fencedText(`and ${renderCountOf(rest, 'more file')}: baton task diff`)];
}

/** Undefined for a binary file, and for one whose patch the daemon omitted. */
function diffOf({ path, action, patch, cut }: TaskDiff['files'][number], root: string): Diff | undefined {
  if (patch === null) return undefined;
  const { before, after } = sidesOf(patch);
  const note = cut ? ['[cut here]'] : [];
  const text = (lines: readonly string[]): string => plainText([...lines, ...note, ''].join('\n'), MAX_CHARACTERS);
  return {
    type: 'diff',
    path: join(root, plainText(path)),
    oldText: action === 'created' ? null : text(before),
    newText: action === 'deleted' ? '' : text(after),
  };
}

/** Keeps hunk headers on both sides. An editor shows them as context, with the line numbers. */
function sidesOf(patch: string): { readonly before: readonly string[]; readonly after: readonly string[] } {
  const [before, after]: [string[], string[]] = [[], []];
  const hunks = patch.match(/^@@ /gm)?.length ?? 0;
  let isInHunk = false;
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    const sign = line[0];
    if (line.startsWith('@@ ')) {
      isInHunk = true;
      if (hunks > 1) for (const side of [before, after]) side.push(line);
    } else if (isInHunk && sign !== '\\') {
      if (sign !== '+') before.push(line.slice(1));
      if (sign !== '-') after.push(line.slice(1));
    }
  }
  return { before, after };
}

const MAX_FILES = 50;
const MAX_CHARACTERS = 262_144;
