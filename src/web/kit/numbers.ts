/** `1,234,567`. */
export function renderCount(count: number): string {
  return count.toLocaleString('en-US');
}

/** `812`, `45.2 k`, `3.1 M`: tokens and bytes, where the last digit tells nothing. */
export function renderAmount(count: number): string {
  if (count < 10_000) return renderCount(count);
  if (count < 1_000_000) return `${(count / 1000).toFixed(1)} k`;
  return `${(count / 1_000_000).toFixed(1)} M`;
}

/** Thousandths of a cent as dollars. Null: no price is known. */
export function renderMoney(millicents: number | null | undefined): string {
  if (millicents === null || millicents === undefined) return '–';
  const dollars = millicents / 100_000;
  return `$${dollars < 1 && dollars > 0 ? dollars.toFixed(3) : dollars.toFixed(2)}`;
}
