import { didYouMean } from '../protocol/shape/suggest.ts';
import type { Io } from './command.ts';
import { EXIT } from './command.ts';
import { MESSAGE_KIND_NAMES } from './message-kinds.ts';

export function reportUnknownKind(kind: string, io: Io): number {
  const hint = didYouMean(kind, MESSAGE_KIND_NAMES);
  io.err(
    `Error: unknown kind of message: ${kind}\n${hint === undefined ? '' : `${hint}\n`}Kinds: ${MESSAGE_KIND_NAMES.join(', ')}\n`,
  );
  return EXIT.usage;
}
