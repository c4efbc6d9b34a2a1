import type { Layer } from '../../protocol/sandbox.ts';
import { joinPath } from './paths.ts';

/** The parts of an overlay lie beside the folder where it is mounted. */
export function partsOf(folder: string): string {
  return `${folder}.overlay`;
}

/** The changes of an overlay. */
export function upperOf(folder: string): string {
  return joinPath(partsOf(folder), 'upper');
}

/** What processes write into overlays, which only their own namespaces show at its place: it counts against limits. */
export function uppersOf(layers: readonly Pick<Layer, 'folder' | 'how'>[]): readonly string[] {
  return layers.flatMap(({ how, folder }) => (how === 'overlay' ? [upperOf(folder)] : []));
}

/** Adds what a kept layer has written, as an overlay or as a copy, to the folders below a later layer. */
export function withKept(keptIn: string, lowers: readonly string[]): readonly string[] {
  return [upperOf(keptIn), keptIn, ...lowers];
}
