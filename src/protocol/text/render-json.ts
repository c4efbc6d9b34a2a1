/** A message as people read it in a terminal; fields keep the order they have. */
export function renderJson(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
