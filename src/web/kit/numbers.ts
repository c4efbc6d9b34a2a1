/** Renders `1,234,567`. */
export function renderCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** Renders `812`, `45.2 k` or `3.1 M`, for tokens and bytes, whose last digits do not matter. */
export function renderAmount(count: number): string {
  if (count < 10_000) return renderCount(count);
  if (count < 1_000_000) return `${(count / 1000).toFixed(1)} k`;
  return `${(count / 1_000_000).toFixed(1)} M`;
}

/** Renders thousandths of a cent as dollars. Null: no price is known. */
export function renderMoney(millicents: number | null | undefined): string {
  if (millicents === null || millicents === undefined) return '–';
  const dollars = millicents / 100_000;
  return `$${dollars < 1 && dollars > 0 ? dollars.toFixed(3) : dollars.toFixed(2)}`;
}
