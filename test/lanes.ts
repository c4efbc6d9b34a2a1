/**
 * A file of the int lane tests each rule's wiring once. Its variants are in the long lane, which runs every file that
 * imports one of these: its tables then have all their rows, and `inLongLane` defines its tests.
 */
export const isLongLane: boolean = process.env['BATON_TEST_LANE'] === 'long';

/** Returns the rows with these indexes, which represent the others; in the long lane, all rows. */
export function someOf<Row>(rows: readonly Row[], ...standing: readonly number[]): Row[] {
  return isLongLane ? [...rows] : rows.filter((_, i) => standing.includes(i));
}

/** Defines tests only in the long lane. Other tests of the file, or of the pure lane, cover their rules. */
export function inLongLane(define: () => void): void {
  if (isLongLane) define();
}

/**
 * The number of examples of a property: an eighth in `npm test`, all in `npm run test:all`. Seeds differ from run to
 * run, so that every run adds some.
 */
export function samples(all: number): number {
  return process.env['BATON_TEST_SAMPLES'] === 'all' ? all : Math.ceil(all / 8);
}
