/**
 * A file of the int lane proves each rule's wiring once. Its variants are in the long lane: `NAME.long.test.ts` imports `NAME.int.test.ts`, and
 * there the tables have all their rows and `inLongLane` defines its tests.
 */
export const isLongLane: boolean = process.env['BATON_TEST_LANE'] === 'long';

/** The rows with these indexes stand for the others; the long lane has all. */
export function someOf<Row>(rows: readonly Row[], ...standing: readonly number[]): Row[] {
  return isLongLane ? [...rows] : rows.filter((_, i) => standing.includes(i));
}

/** Tests whose rules the other tests of the file, or tests of the pure lane, prove as well. */
export function inLongLane(define: () => void): void {
  if (isLongLane) define();
}

/** How many examples a property gets: a quarter in `npm test`, all in `npm run test:all`. Seeds differ from run to run, so that every run adds some. */
export function samples(all: number): number {
  return process.env['BATON_TEST_SAMPLES'] === 'all' ? all : Math.ceil(all / 4);
}
