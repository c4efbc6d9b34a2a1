/** The colours of a log. Each is readable on every surface in both themes, whatever colour a program requested. */
export type Hue = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'gray';

/**
 * The 16 colours of a terminal. Black and white become the colour of the text, because each would be invisible in one
 * theme.
 */
export const PALETTE: readonly (Hue | undefined)[] = [
  undefined, 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', undefined,
  'gray', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', undefined,
]; // prettier-ignore

/** The start of each hue in degrees. */
const HUES: readonly (readonly [from: number, hue: Hue])[] = [
  [345, 'red'],
  [255, 'magenta'],
  [200, 'blue'],
  [160, 'cyan'],
  [70, 'green'],
  [20, 'yellow'],
  [0, 'red'],
];
/** The minimum saturation, of 255, that does not look gray. */
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
