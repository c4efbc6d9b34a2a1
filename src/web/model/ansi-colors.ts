/** The colours that the log has. Each is readable on every surface in both themes, whatever a program asked for. */
export type Hue = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'gray';

/** The 16 colours of a terminal. Black and white are the colour of the text: one of them would be invisible in each theme. */
export const PALETTE: readonly (Hue | undefined)[] = [
  undefined, 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', undefined,
  'gray', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', undefined,
]; // prettier-ignore

/** Where each hue begins, in degrees. */
const HUES: readonly (readonly [from: number, hue: Hue])[] = [
  [345, 'red'],
  [255, 'magenta'],
  [200, 'blue'],
  [160, 'cyan'],
  [70, 'green'],
  [20, 'yellow'],
  [0, 'red'],
];
/** Of 255: less colour than this looks gray. */
const LEAST_COLOR = 32;

/** The colour of the palette that is nearest to red, green and blue from 0 to 255; undefined for black and white. */
export function nearestHue(red: number, green: number, blue: number): Hue | undefined {
  const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  const range = most - least;
  if (range < LEAST_COLOR) return most > 64 && least < 192 ? 'gray' : undefined;
  const sextant =
    most === red
      ? ((green - blue) / range + 6) % 6
      : most === green
        ? (blue - red) / range + 2
        : (red - green) / range + 4;
  return HUES.find(([from]) => sextant * 60 >= from)?.[1];
}
