import { didYouMean } from '../protocol/suggest.ts';
import type { Io } from './command.ts';
import { EXIT } from './command.ts';
import { KINDS } from './dialects.ts';

export function unknownKind(kind: string, io: Io): number {
  const hint = didYouMean(kind, KINDS);
  io.err(
    `Error: unknown kind of message: ${kind}\n${hint === undefined ? '' : `${hint}\n`}Kinds: ${KINDS.join(', ')}\n`,
  );
  return EXIT.usage;
}
