import { taskId } from '../protocol/shape/shared-fields.ts';

const TASK_ID = new RegExp(taskId.pattern, 'u');
const MARK = 'x--';

export function isTaskId(id: string): boolean {
  return TASK_ID.test(id);
}

/**
 * Replaces each invalid character by its code between underscores, which `fromTaskId` reverts. Undefined if the result
 * is too long.
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

/** An id that looks encoded but is not the encoding of another id stays unchanged. */
function isFine(foreign: string): boolean {
  return isTaskId(foreign) && !isRewritten(foreign);
}

/** Terminates, because each step shortens the id. */
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
