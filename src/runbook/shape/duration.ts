const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The milliseconds of a text that the shape has let through: `500ms`, `10s`, `5m`, `2h`, `1d`. */
export function parseDuration(text: string): number {
  const [, amount, unit = ''] = /^([0-9]+)(ms|s|m|h|d)$/.exec(text) ?? [];
  return Number(amount) * (UNIT_MS[unit] ?? Number.NaN);
}

/** Dollars as thousandths of a cent: `$2.50` is 250,000. Counted in digits, since 0.1 + 0.2 is not 0.3. */
export function parseMillicents(text: string): number {
  const [dollars = '0', fraction = ''] = text.replace('$', '').split('.');
  return Number(dollars) * 100_000 + Number(fraction.padEnd(5, '0'));
}
