import { taskId } from '../protocol/shape/shared-fields.ts';

const TASK_ID = new RegExp(taskId.pattern, 'u');

/** What stands before an id that was rewritten. */
const MARK = 'x--';

export function isTaskId(id: string): boolean {
  return TASK_ID.test(id);
}

/**
 * The id of another tool as one that Baton can hold; `fromTaskId` turns it back. Most are fine as they are. In the others each
 * character that is not allowed becomes its code between underscores. Undefined where that is too long.
 */
export function toTaskId(foreign: string): string | undefined {
  if (foreign === '') return undefined;
  if (isFine(foreign)) return foreign;
  const id = rewrite(foreign);
  return isTaskId(id) ? id : undefined;
}

export function fromTaskId(id: string): string {
  return isRewritten(id) ? turnBack(id) : id;
}

/** An id that looks rewritten, and is not what anything would be rewritten to, is somebody's own. */
function isFine(foreign: string): boolean {
  return isTaskId(foreign) && !isRewritten(foreign);
}

/** It goes by ids that get shorter each time. */
function isRewritten(id: string): boolean {
  if (!id.startsWith(MARK)) return false;
  const foreign = turnBack(id);
  return foreign !== '' && rewrite(foreign) === id && !isFine(foreign);
}

function rewrite(foreign: string): string {
  return MARK + foreign.replace(/[^A-Za-z0-9.-]/gu, (character) => `_${character.codePointAt(0)?.toString(16)}_`);
}

function turnBack(id: string): string {
  return id.slice(MARK.length).replace(/_([0-9a-f]{1,6})_/g, (all, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code > 0x10ffff ? all : String.fromCodePoint(code);
  });
}
