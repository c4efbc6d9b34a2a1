import { readFileSync } from 'node:fs';

export type Ownership =
  /** The record in the folder names this process. */
  | { readonly kind: 'ours' }
  /** The folder was removed, or another daemon has it. */
  | { readonly kind: 'lost' }
  /** The record could not be read. That proves nothing: a daemon without a descriptor must not take its folder for lost. */
  | { readonly kind: 'unknown'; readonly error: Error };

/** Whose state folder it is, as far as the record in it tells. */
export function readOwnership(
  record: string,
  pid: number = process.pid,
  read: (path: string) => string = (path) => readFileSync(path, 'utf8'),
): Ownership {
  let text: string;
  try {
    text = read(record);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const code: unknown = 'code' in error ? error.code : undefined;
    return code === 'ENOENT' || code === 'ENOTDIR' ? { kind: 'lost' } : { kind: 'unknown', error };
  }
  return pidIn(text) === pid ? { kind: 'ours' } : { kind: 'lost' };
}

function pidIn(text: string): unknown {
  try {
    return Reflect.get(Object(JSON.parse(text)), 'pid');
  } catch {
    return undefined;
  }
}
